/** The settings of the connection to NATS, in the form that connections take. */
import type { Config } from '../../../config/index.js';
import type { NatsOptions } from '../connection.js';
import type { NatsUser } from '../subjects.js';

/** @param as the NATS user of the connections: that of the process's roles, or the operator */
export function natsOptionsOf(config: Config, as: NatsUser = userOf(config.process.roles)): NatsOptions {
  const { nats } = config;
  const tls = { caFile: nats.natsTlsCa, certFile: nats.natsTlsCert, keyFile: nats.natsTlsKey };
  const hasTls = Object.values(tls).some((file) => file !== undefined);
  const hasSystem = (nats.natsSysCreds ?? nats.natsSysNkey ?? nats.natsSysUser) !== undefined;
  return withoutUndefined({
    as,
    servers: nats.natsUrl ?? [],
    user: nats.natsUser,
    password: nats.natsPassword?.reveal(),
    token: nats.natsToken?.reveal(),
    nkeyFile: nats.natsNkey,
    credsFile: nats.natsCreds,
    tls: hasTls ? withoutUndefined(tls) : undefined,
    system: hasSystem
      ? withoutUndefined({
          credsFile: nats.natsSysCreds,
          nkeyFile: nats.natsSysNkey,
          user: nats.natsSysUser,
          password: nats.natsSysPassword?.reveal(),
        })
      : undefined,
  }) as NatsOptions;
}

function userOf(roles: Config['process']['roles']): NatsUser {
  const users = new Set(roles.map((role) => (role === 'kv' || role === 'queue' ? 'owner' : role)));
  const [only = 'process', ...others] = users;
  return others.length === 0 ? only : 'process';
}

function withoutUndefined<T extends object>(record: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  const given = Object.entries(record).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given) as { [K in keyof T]: Exclude<T[K], undefined> };
}
