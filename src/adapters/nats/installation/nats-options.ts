/** How the settings say that a NATS is reached, in the shape that connections take. */
import type { Config } from '../../../config/index.js';
import type { NatsOptions } from '../connection.js';

export function natsOptionsOf(config: Config): NatsOptions {
  const { nats } = config;
  const tls = { caFile: nats.natsTlsCa, certFile: nats.natsTlsCert, keyFile: nats.natsTlsKey };
  const hasTls = Object.values(tls).some((file) => file !== undefined);
  const hasSystem = nats.natsSysCreds !== undefined || nats.natsSysUser !== undefined;
  return withoutUndefined({
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
          user: nats.natsSysUser,
          password: nats.natsSysPassword?.reveal(),
        })
      : undefined,
  }) as NatsOptions;
}

function withoutUndefined<T extends object>(record: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  const given = Object.entries(record).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given) as { [K in keyof T]: Exclude<T[K], undefined> };
}
