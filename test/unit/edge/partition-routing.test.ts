/** The way from a request to the only partition of a database. Proves PRO1. */
import { expect } from 'chai';
import { type CommandSpec, findCommand } from '../../../src/domain/kv/index.js';
import { PartitionRouter } from '../../../src/edge/commands/partition-routing.js';
import type { DatabaseId, PartitionName } from '../../../src/kernel/index.js';
import type { KvGrant } from '../../../src/ports/index.js';
import type { KvMode, KvRequest, KvResponse } from '../../../src/protocol/index.js';
import { ManualTime } from '../../support/memory/index.js';

const DATABASE = 'db-aaaaaaaaaaaaaaaa' as DatabaseId;
const GRANT: KvGrant = {
  database: DATABASE,
  partitions: [`kv:${DATABASE}:0` as PartitionName],
  role: 'standard',
  user: 'default',
  limits: { maxCommandBytes: 1000, maxRequestsPerDay: 0 },
};

describe('a database with one partition', () => {
  for (const mode of ['single', 'pipeline', 'transaction'] as KvMode[]) {
    it(`receives a request unchanged, and its answer is returned: ${mode} (PRO1)`, async () => {
      const asked: KvRequest[] = [];
      const response: KvResponse = { replies: ['1', '2', '3', '4'], syncToken: '7-0' };
      const execute = (request: KvRequest) => {
        asked.push(request);
        return Promise.resolve(response);
      };
      const time = new ManualTime(0);
      const router = new PartitionRouter({ execute }, { clock: time, timers: time, access: {} });
      // Keys of several slots, one command that concerns every key, and one that has none.
      const commands = [['MSET', 'a', '1', 'b', '2'], ['DBSIZE'], ['PING'], ['MGET', 'b', 'a']];
      const specs = commands.map((words) => findCommand(words) as CommandSpec);
      const answer = await router.run(GRANT, mode, { specs, commands, bytes: 30 }, { maxAnswerBytes: 5 });
      expect(asked).to.have.length(1);
      expect(asked[0]?.commands).to.equal(commands);
      const { commands: _, ...rest } = asked[0] as KvRequest;
      const said = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined));
      expect(said).to.deep.equal({
        database: DATABASE,
        partition: GRANT.partitions[0],
        mode,
        bytes: 30,
        maxAnswerBytes: 5,
      });
      expect(answer).to.equal(response);
    });
  }
});
