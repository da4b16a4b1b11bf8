/**
 * The settings of `millrace dev`: temporary data, destinations on this machine, and the names, address and credentials
 * that published clients expect in development.
 */
import { givenCredentials, NodeRandom } from '../../adapters/node/index.js';
import type { Environment } from '../../config/index.js';
import { PUBLISHED_WORDS } from '../../edge/index.js';
import {
  CREDENTIAL_NAMES,
  CREDENTIAL_VARIABLES,
  completeCredentials,
  type FirstStartCredentials,
} from '../../protocol/index.js';
import { freePort, listens } from '../free-port.js';
import { loadedConfig } from '../loaded-config.js';

/** Given settings that are ignored, because they name a server, a key or roles of a real installation. */
const ITS_OWN = ['MILLRACE_NATS_URL', 'MILLRACE_SEAL_KEY_FILE', 'MILLRACE_ROLES'];

const PORTS = [
  ['MILLRACE_KV_PORT', 'kvPort'],
  ['MILLRACE_QUEUE_PORT', 'queuePort'],
  ['MILLRACE_MGMT_PORT', 'mgmtPort'],
  ['MILLRACE_RESP_PORT', 'respPort'],
  ['MILLRACE_METRICS_PORT', 'metricsPort'],
] as const;

/**
 * The address and the credentials that published queue clients use in their development mode. They are public: they
 * protect no data.
 */
const OF_DEVELOPMENT_MODE: Environment = {
  MILLRACE_QUEUE_TOKEN: 'eyJVc2VySUQiOiJkZWZhdWx0VXNlciIsIlBhc3N3b3JkIjoiZGVmYXVsdFBhc3N3b3JkIn0=',
  MILLRACE_SIGNING_KEY_CURRENT: 'sig_7kYjw48mhY7kAjqNGcy6cr29RJ6r',
  MILLRACE_SIGNING_KEY_NEXT: 'sig_5ZB6DVzB1wjE8S6rZ7eenA8Pdnhs',
};
const PORT_OF_DEVELOPMENT_MODE = 8080;

export interface DevSettings {
  readonly env: Environment;
  readonly credentials: FirstStartCredentials;
  /** `Header:queue:kv`. */
  readonly words: string;
}

/** @param given takes precedence over the defaults here. @throws BAD_CONFIG */
export async function devSettings(given: Environment, dataDir: string): Promise<DevSettings> {
  const chosen: Environment = {
    MILLRACE_ALLOW_PRIVATE_DESTINATIONS: 'true',
    MILLRACE_WIRE_ALIAS: PUBLISHED_WORDS,
    MILLRACE_WIRE_ALIAS_DELIVER: 'both',
    ...OF_DEVELOPMENT_MODE,
    ...withoutEmpty(given),
    ...Object.fromEntries(ITS_OWN.map((variable) => [variable, undefined])),
    MILLRACE_DATA_DIR: dataDir,
    // Temporary data needs no supervisor.
    MILLRACE_WORKERS: '1',
  };
  const { config } = loadedConfig(chosen);
  const ports: Record<string, string> = {};
  for (const [variable, name] of PORTS) {
    const { host } = config.endpoints;
    const port = variable === 'MILLRACE_QUEUE_PORT' ? PORT_OF_DEVELOPMENT_MODE : config.endpoints[name];
    // A given port is used or refused; a default port is replaced if it is busy.
    if (chosen[variable] !== undefined) continue;
    const isFree = await listens(host, port).then(
      () => true,
      () => false,
    );
    ports[variable] = String(isFree ? port : await freePort(host));
  }
  const credentials = completeCredentials(givenCredentials(config.firstStart), new NodeRandom());
  const secrets = CREDENTIAL_NAMES.map((name) => [CREDENTIAL_VARIABLES[name], credentials[name]]);
  const env = { ...chosen, ...ports, ...Object.fromEntries(secrets) };
  return { env, credentials, words: chosen.MILLRACE_WIRE_ALIAS ?? PUBLISHED_WORDS };
}

function withoutEmpty(env: Environment): Environment {
  return Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''));
}
