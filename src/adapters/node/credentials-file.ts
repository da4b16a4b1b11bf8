/**
 * `<data dir>/credentials.env`: what the first start made or was given, readable by the owner alone. Lines of
 * `VARIABLE=value`, quoted for a shell where needed.
 *
 *  CF1 what the file holds counts before what is given later: its values are the ones in force
 *  CF2 the file is written whole, with mode 0600, before anybody relies on what it holds
 */
import { rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { FirstStartSettings } from '../../config/index.js';
import type { Random } from '../../kernel/index.js';
import {
  CREDENTIAL_NAMES,
  CREDENTIAL_VARIABLES,
  completeCredentials,
  type FirstStartCredentials,
  type GivenCredentials,
} from '../../messages/index.js';
import { ensureDirectory, PRIVATE_FILE, readFileIfThere, writeFileAtomic } from './files.js';

const HEADING = '# Made by the first start. Whoever reads this file can do everything: keep it private.\n';
/** What a shell takes as it is. */
const PLAIN = /^[A-Za-z0-9_@%+=:,./-]*$/;

export class CredentialsFile {
  constructor(
    private readonly path: string,
    private readonly given: Partial<GivenCredentials>,
    private readonly random: Random,
  ) {}

  /** @throws the error of the file system */
  async prepare(): Promise<{ credentials: FirstStartCredentials; isNew: boolean }> {
    const found = await readFileIfThere(this.path);
    const kept = found === undefined ? {} : parse(found.toString('utf8'));
    const credentials = completeCredentials({ ...this.given, ...kept }, this.random);
    const isWhole = CREDENTIAL_NAMES.every((name) => kept[name] !== undefined);
    if (!isWhole) await this.replace(credentials);
    return { credentials, isNew: found === undefined };
  }

  async replace(credentials: FirstStartCredentials): Promise<void> {
    await ensureDirectory(dirname(this.path));
    await writeFileAtomic(this.path, HEADING + credentialLines(credentials), PRIVATE_FILE);
  }

  async remove(): Promise<void> {
    await rm(this.path, { force: true });
  }
}

/** They are as in the file, a line each. @param given are left out: who gave them has them, and others may read along */
export function credentialLines(credentials: FirstStartCredentials, given: Partial<GivenCredentials> = {}): string {
  return CREDENTIAL_NAMES.filter((name) => given[name] === undefined)
    .map((name) => `${CREDENTIAL_VARIABLES[name]}=${quoted(credentials[name])}\n`)
    .join('');
}

/** The clear texts of what an operator set. */
export function givenCredentials(settings: FirstStartSettings): GivenCredentials {
  return {
    kvToken: settings.kvToken?.reveal(),
    kvReadonlyToken: settings.kvReadonlyToken?.reveal(),
    kvPassword: settings.kvPassword?.reveal(),
    queueToken: settings.queueToken?.reveal(),
    queueReadonlyToken: settings.queueReadonlyToken?.reveal(),
    mgmtEmail: settings.mgmtEmail,
    mgmtKey: settings.mgmtKey?.reveal(),
    signingKeyCurrent: settings.signingKeyCurrent?.reveal(),
    signingKeyNext: settings.signingKeyNext?.reveal(),
  };
}

function parse(text: string): Partial<Record<keyof FirstStartCredentials, string>> {
  const valuesByVariable = new Map<string, string>();
  for (const line of text.split('\n')) {
    const match = /^\s*([A-Z0-9_]+)=(.*)$/.exec(line);
    if (match !== null) valuesByVariable.set(match[1] as string, unquoted((match[2] as string).trim()));
  }
  const kept: Partial<Record<keyof FirstStartCredentials, string>> = {};
  for (const name of CREDENTIAL_NAMES) {
    const value = valuesByVariable.get(CREDENTIAL_VARIABLES[name]);
    if (value !== undefined && value !== '') kept[name] = value;
  }
  return kept;
}

function quoted(value: string): string {
  return PLAIN.test(value) ? value : `'${value.replaceAll("'", `'\\''`)}'`;
}

function unquoted(value: string): string {
  const match = /^'(.*)'$/.exec(value);
  return match === null ? value : (match[1] as string).replaceAll(`'\\''`, "'");
}
