/** Runs ACL commands of one database against an in-memory control state, with the answers of the edges. */
import { AclAdministration } from '../../src/actors/control/index.js';
import { admit, ErrorReply, permissionsOf, type Reply } from '../../src/domain/kv/index.js';
import { AclCommands } from '../../src/edge/index.js';
import type { AccountId, ByteString, DatabaseId } from '../../src/kernel/index.js';
import type { KvGrant } from '../../src/ports/index.js';
import { hashSecret } from '../../src/protocol/index.js';
import { seededRandom } from './kv-bench.js';
import { MemoryControl } from './memory-control.js';

export const STAND_DATABASE = 'db-stand' as DatabaseId;
export const STAND_PASSWORD = 'the-password-of-the-database';

const LIMITS = { maxCommandBytes: 1_000_000, maxRequestsPerDay: 0 };
const secret = (text: string) => ({ sha256: hashSecret(text), sealed: text });

export class AclStand {
  readonly control = new MemoryControl();
  readonly clock = { nowMs: () => this.control.nowMs, monotonicMs: () => this.control.nowMs };
  readonly admin = new AclAdministration(this.control, this.control, seededRandom(1));
  readonly commands: AclCommands;

  constructor(minSecretCharacters = 0) {
    const { admin, clock } = this;
    this.commands = new AclCommands({ admin, clock, random: seededRandom(2), minSecretCharacters });
  }

  async start(): Promise<this> {
    const account = 'ac-stand' as AccountId;
    const accountSecrets = {
      queueToken: secret('q'),
      mgmtKey: secret('m'),
      signingKeyCurrent: secret('s1'),
      signingKeyNext: secret('s2'),
    };
    await this.control.send({
      type: 'FirstStart',
      account: { id: account, name: 'first', email: 'a@b.example', secrets: accountSecrets },
      database: {
        id: STAND_DATABASE,
        name: 'first',
        account,
        partitions: 1,
        limits: LIMITS,
        secrets: {
          standardToken: secret('standard'),
          readOnlyToken: secret('read-only'),
          password: secret(STAND_PASSWORD),
        },
      },
    });
    return this;
  }

  /** The grant of `default` or of another user. */
  grant(user = 'default'): KvGrant {
    const rules = this.admin.user(STAND_DATABASE, user)?.rules;
    const permissions = rules === undefined ? undefined : permissionsOf(rules, user);
    return {
      database: STAND_DATABASE,
      partitions: [],
      role: 'standard',
      user,
      limits: LIMITS,
      ...(permissions === undefined ? {} : { permissions, rules }),
    };
  }

  /** Runs a command as a connection. @returns its reply */
  async run(words: readonly ByteString[], user = 'default', face: 'rest' | 'resp' = 'resp'): Promise<Reply> {
    const spec = admit(words);
    if (spec instanceof ErrorReply) return spec;
    const grant = this.grant(user);
    const denial = grant.permissions?.refusal(spec, words);
    if (denial !== undefined) return denial;
    const client = face === 'resp' ? { address: '127.0.0.1:1' } : undefined;
    const reply = await this.commands.run(grant, spec, words, client);
    return reply === undefined ? new ErrorReply('ERR not of the ACL family') : reply;
  }
}
