/** The control plane of this process, and the objects that the first start creates. */
import { join } from 'node:path';
import type { DependencyContainer } from 'tsyringe';
import { ControlOwner, firstStart, ProcessControl } from '../actors/control/index.js';
import { JetStreamMeterLog, raiseFormat } from '../adapters/nats/index.js';
import { CredentialsFile, credentialLines, givenCredentials, readSecret, sealingWith } from '../adapters/node/index.js';
import { OpenIdProviders } from '../adapters/oidc/index.js';
import { readSignInProviders, referenceIn } from '../config/index.js';
import { pricesOf } from './prices.js';
import { ownedShards } from './shards-module.js';
import * as tokens from './tokens.js';

/** Credentials that the first start generated. */
export interface MadeCredentials {
  /** The file with all of them. */
  readonly file: string;
  /** `VARIABLE=value` lines; empty if all were given. */
  readonly lines: string;
}

/** @param ownsShards  whether it may own the control shard */
export function registerControl(c: DependencyContainer, ownsShards: boolean): void {
  const providers = readSignInProviders(c.resolve(tokens.CONFIG).signIn.signInProviders);
  if (providers.length > 0) {
    tokens.once(c, tokens.IDENTITY_PROVIDERS, () => new OpenIdProviders(providers, { ...tokens.portsOf(c), secretOf }));
  }
  tokens.once(c, tokens.CONTROL, () => {
    const config = c.resolve(tokens.CONFIG);
    const { connections, names, isExclusive: isAlone } = c.resolve(tokens.NATS);
    const { processId: process } = c.resolve(tokens.SESSION);
    const ports = {
      ...tokens.portsOf(c),
      process,
      membership: c.resolve(tokens.MEMBERSHIP),
      caller: c.resolve(tokens.CALLER),
      meterLog: new JetStreamMeterLog(connections, names, c.resolve(tokens.JOURNAL)),
    };
    const owner = ownsShards ? new ControlOwner({ ...ports, own: (plane) => ownedShards(c, plane) }) : undefined;
    const { controlStaleMs: staleMs, requestHoldMs: holdMs } = config.ownership;
    const asksOwner = ownsShards || config.process.roles.includes('edge');
    const options = { process, isAlone, staleMs, holdMs, prices: pricesOf(config), asksOwner, providers };
    return new ProcessControl({ ...ports, owner, sealing: c.resolve(tokens.SEALING) }, options);
  });
}

/** @returns generated credentials, to be shown once */
export function startControl(c: DependencyContainer): Promise<MadeCredentials | undefined> {
  return c.resolve(tokens.CONTROL).start((pause) => makeFirstDatabase(c, pause));
}

async function makeFirstDatabase(
  c: DependencyContainer,
  pause: () => Promise<void>,
): Promise<MadeCredentials | undefined> {
  // One worker of a machine keeps the file; the others wait for its result.
  if (tokens.ifRegistered(c, tokens.WORKER)?.start.keepsCredentials === false) return undefined;
  const config = c.resolve(tokens.CONFIG);
  const random = c.resolve(tokens.RANDOM);
  const { connections, names } = c.resolve(tokens.NATS);
  const file = join(config.storage.dataDir, 'credentials.env');
  const given = givenCredentials(config.firstStart);
  const { key } = c.resolve(tokens.DATA_KEY);
  const { maxCommandBytes, maxRequestsPerDay } = config.bounds;
  const { toPrint, warnings } = await firstStart({
    client: c.resolve(tokens.CONTROL).client,
    keeper: new CredentialsFile(file, given, random, key && sealingWith(key.keyFor('credentials'), random)),
    sealing: c.resolve(tokens.SEALING),
    random,
    given,
    limits: { maxCommandBytes, maxRequestsPerDay },
    raiseLayout: config.isEmbedded ? (level) => raiseFormat(connections, names, level) : undefined,
    pause,
  });
  for (const warning of warnings) c.resolve(tokens.LOG).warn('first-start.warning', { warning });
  return toPrint === undefined ? undefined : { file, lines: credentialLines(toPrint, given) };
}

/** The text of a secret, or of the place that it names. @throws as `readSecret` */
function secretOf(text: string): string {
  const reference = referenceIn(text);
  return reference === undefined ? text : readSecret(reference);
}
