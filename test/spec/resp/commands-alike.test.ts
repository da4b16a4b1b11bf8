/** Proves RCR3. */
import { expect } from 'chai';
import fc from 'fast-check';
import { encodeCommand } from '../../../src/codec/resp/index.js';
import { permissionsOf } from '../../../src/domain/kv/index.js';
import type { DatabaseId, PartitionName } from '../../../src/kernel/index.js';
import type { KvGrant } from '../../../src/ports/index.js';
import { repetitions } from '../../support/depth.js';
import { OTHER_PASSWORD, PASSWORD, type RawClient, RespEndpointHarness } from '../../support/resp-endpoint.js';

const KEY = 'k'.repeat(70_000);
/**
 * Every ordered pair of them: commands that are checked alone, and commands that may change the check of the next one.
 */
const COMMANDS = [
  'GET a',
  'get a',
  'GET',
  'GET a b',
  `GET ${KEY}`,
  'SET a 1',
  'SET a',
  'INCR a',
  'LPUSH a x',
  'PING',
  'MULTI',
  'EXEC',
  'DISCARD',
  'CLIENT REPLY SKIP',
  'CLIENT GETNAME',
  'COMMAND COUNT',
  'COMMAND INFO get',
  'OBJECT ENCODING a',
  'OBJECT HELP',
  'NOSUCH a',
];

describe('RESP: similar commands in a pipeline', () => {
  let face: RespEndpointHarness;
  afterEach(() => face.stop());

  it('are answered together as they are one by one', async () => {
    face = await new RespEndpointHarness().start();
    const line = fc.constantFrom(...COMMANDS);
    // Mostly several of a kind, and then others.
    const some = fc.array(fc.tuple(line, fc.integer({ min: 1, max: 4 })), { maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(some, async (runs) => {
        const lines = runs.flatMap(([text, times]) => Array.from({ length: times }, () => text));
        const [together, single] = [await face.client(2, PASSWORD), await face.client(2, OTHER_PASSWORD)];
        const bytes = [...lines, 'RESET', 'RESET'].map((text) => encodeCommand(text.split(' ')));
        const reset = encodeCommand(['FLUSHALL']);
        const all = await answers(together, [[reset, ...bytes].join('')]);
        expect(all).to.deep.equal(await answers(single, [reset, ...bytes]));
        together.close();
        single.close();
      }),
      { numRuns: repetitions(60) },
    );
  });

  it('are checked one by one where permissions depend on their words', async () => {
    const rules = '~a* +get';
    const grant: KvGrant = {
      database: 'db-first' as DatabaseId,
      partitions: ['kv:db-first:0' as PartitionName],
      role: 'standard',
      user: 'alice',
      permissions: permissionsOf(rules.replaceAll(' ', '\n'), 'alice'),
      rules,
      limits: { maxCommandBytes: 1_000_000, maxRequestsPerDay: 0 },
    };
    face = await new RespEndpointHarness({ access: { grantForLogin: () => grant, isCurrent: () => true } }).start();
    const client = await face.client(2, 'any');
    client.send(['a1', 'b1', 'a2', 'b2'].map((key) => encodeCommand(['GET', key])).join(''));
    expect(await client.next()).to.equal('$-1\r\n');
    expect(await client.next()).to.match(/^-NOPERM/);
    expect(await client.next()).to.equal('$-1\r\n');
    expect(await client.next()).to.match(/^-NOPERM/);
  });

  it('are each tracked, and each limited by the plan', async () => {
    face = new RespEndpointHarness();
    face.maxCommandBytes = 1_000;
    await face.start();
    const client = await face.client(3);
    client.send(
      [
        ['CLIENT', 'TRACKING', 'on'],
        ['GET', 'a'],
        ['GET', 'b'],
        ['GET', 'k'.repeat(2_000)],
        ['GET', 'c'],
      ]
        .map(encodeCommand)
        .join(''),
    );
    expect(await client.next()).to.equal('+OK\r\n');
    expect(await client.next()).to.equal('_\r\n');
    expect(await client.next()).to.equal('_\r\n');
    expect(await client.next()).to.match(/^-ERR/);
    expect(await client.next()).to.equal('_\r\n');
    expect(face.server.counts().trackedKeys).to.equal(3);
  });
});

/** All answers up to that of the end marker: the first of two, unless its answer was switched off. */
async function answers(client: RawClient, pieces: readonly string[]): Promise<string[]> {
  for (const piece of pieces) {
    client.send(piece);
    await new Promise((resolve) => setImmediate(resolve));
  }
  const said: string[] = [];
  while (said.at(-1) !== '+RESET\r\n') said.push(await client.next());
  return said;
}
