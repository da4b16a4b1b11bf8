/**
 * The users of the nats-servers, as files of a directory: `<user>.nk` has the seed that a process of that role signs in
 * with, and `accounts.conf` has the public keys of the users and their rights, for the servers.
 *
 *  NU1 an existing seed is never written again; a missing one is created
 *  NU2 every seed file of a user is valid, also `<user>.<anything>.nk`: during a rotation the former seed is valid until
 *      its file is removed
 *  NU3 accounts.conf contains no secret
 */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { nkeys } from 'nats';
import { MillraceError } from '../../../kernel/index.js';
import { ensureDirectory, PRIVATE_FILE, readFileIfThere, writeFileAtomic } from '../../node/index.js';
import { type Rights, rightsOf } from '../rights.js';
import type { DeclaredCounts } from '../streams.js';
import { NATS_USERS, type Names, type NatsUser } from '../subjects.js';

/** Servers may run as another user. */
const PUBLIC_FILE = 0o644;

/** @returns the path of the configuration. @throws BAD_CONFIG when a seed cannot be read */
export async function writeNatsUsers(
  directory: string,
  names: Names,
  counts: Pick<DeclaredCounts, 'kvShards' | 'queueShards'>,
): Promise<string> {
  await ensureDirectory(directory);
  for (const user of NATS_USERS) {
    const path = join(directory, `${user}.nk`);
    if ((await readFileIfThere(path)) !== undefined) continue;
    await writeFileAtomic(path, `${Buffer.from(nkeys.createUser().getSeed()).toString()}\n`, PRIVATE_FILE);
  }
  const files = (await readdir(directory)).filter((file) => file.endsWith('.nk')).sort();
  const entries: Record<'SYS' | 'APP', string[]> = { SYS: [], APP: [] };
  for (const user of NATS_USERS) {
    const rights = rightsOf(user, names, counts);
    const ofUser = files.filter((file) => file.startsWith(`${user}.`));
    const account = user === 'system' ? 'SYS' : 'APP';
    for (const file of ofUser) entries[account].push(entryOf(user, await publicKeyIn(join(directory, file)), rights));
  }
  const path = join(directory, 'accounts.conf');
  await writeFileAtomic(path, configurationOf(entries.SYS, entries.APP), PUBLIC_FILE);
  return path;
}

function configurationOf(system: readonly string[], app: readonly string[]): string {
  return `# Who may sign in, and what for. Written by "millrace cluster users"; nothing in it is secret.
accounts {
  SYS { users: [
${system.join('\n')}
  ] }
  APP { jetstream: enabled, users: [
${app.join('\n')}
  ] }
}
system_account: SYS
`;
}

function entryOf(user: NatsUser, nkey: string, { publish, subscribe, answers }: Rights): string {
  const permissions = { publish: { allow: publish }, subscribe: { allow: subscribe }, allow_responses: answers };
  return `# ${user}\n${JSON.stringify({ nkey, permissions }, undefined, 1)}`;
}

async function publicKeyIn(path: string): Promise<string> {
  try {
    const text = (await readFileIfThere(path))?.toString() ?? '';
    return nkeys.fromSeed(Buffer.from(text.trim())).getPublicKey();
  } catch (cause) {
    throw new MillraceError('BAD_CONFIG', `${path} does not hold the seed of an nkey`, {}, cause);
  }
}
