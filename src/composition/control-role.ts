import type { DependencyContainer } from 'tsyringe';
import type { Access, KvGrant, Meter, Quota } from '../ports/index.js';
import { CONFIG } from './tokens.js';
export interface ControlRole {
  access: Access;
  quota: Quota;
  meter: Meter;
  isReady(): Promise<void>;
  isFresh(): boolean;
  stop(): Promise<void>;
}
export async function controlRole(c: DependencyContainer, _o: unknown): Promise<ControlRole> {
  const { firstStart, bounds } = c.resolve(CONFIG);
  const grant = (role: string) =>
    ({
      database: 'db-aaaaaaaaaaaaaaaa',
      partitions: ['kv:db-aaaaaaaaaaaaaaaa:0'],
      role,
      user: role === 'standard' ? 'default' : 'default_ro',
      limits: { maxCommandBytes: bounds.maxCommandBytes, maxRequestsPerDay: 0 },
    }) as unknown as KvGrant;
  const byToken = new Map([
    [firstStart.kvToken?.reveal(), grant('standard')],
    [firstStart.kvReadonlyToken?.reveal(), grant('read-only')],
  ]);
  return {
    access: { grantFor: (t) => byToken.get(t) },
    quota: { take: () => true },
    meter: { recordKv: () => {} },
    isReady: async () => {},
    isFresh: () => true,
    stop: async () => {},
  };
}
