/** A process that is killed while one connection sends commands without waiting for answers. Proves SA1, RCO1. */
import { expect } from 'chai';
import { encodeCommand } from '../../../src/codec/resp/index.js';
import { eventually } from '../../support/eventually.js';
import { freePort } from '../../support/free-port.js';
import { endEverything, PASSWORD, startMillrace, temporaryDirectory } from '../../support/millrace-process.js';
import { RawClient } from '../../support/resp-endpoint.js';

const KILLS = 2;
/** Acknowledged before the process is killed. */
const ENOUGH = 400;
const BEGUN_AT_ONCE = 40;
/** A script that appends the next number to a list and returns it. */
const NEXT = "local n = redis.call('INCR', KEYS[1]) redis.call('RPUSH', KEYS[2], n) return n";

describe('a connection that does not wait for answers, to a process that is killed', function () {
  this.timeout(120_000);
  after(endEverything);

  it('finds every acknowledged command applied once, in the order of sending', async () => {
    const dataDir = await temporaryDirectory();
    const port = await freePort();
    const env = { MILLRACE_RESP_PORT: String(port) };
    for (let kill = 0; kill < KILLS; kill += 1) {
      const millrace = await startMillrace({ dataDir, env });
      const client = await RawClient.connect(port);
      expect(await client.call('AUTH', PASSWORD)).to.equal('+OK\r\n');
      const answered: string[] = [];
      const key = `list-${kill}`;
      let sent = 0;
      const sendNext = (): void => {
        sent += 1;
        const isScript = sent % 2 === 0;
        client.send(encodeCommand(isScript ? ['EVAL', NEXT, '2', 'n', key] : ['RPUSH', key, `own-${sent}`]));
      };
      const read = async (): Promise<void> => {
        for (;;) {
          answered.push(await client.next());
          // Sent later, so that it is a separate request.
          setImmediate(sendNext);
        }
      };
      for (let i = 0; i < BEGUN_AT_ONCE; i += 1) setImmediate(sendNext);
      void read();
      await eventually(() => expect(answered.length).to.be.at.least(ENOUGH), { timeoutMs: 60_000 });
      await millrace.kill('SIGKILL');
      await eventually(() => expect(client.isClosed).to.equal(true));

      const again = await startMillrace({ dataDir, env });
      const reader = await RawClient.connect(port);
      await reader.call('AUTH', PASSWORD);
      // On a busy machine, a process that has just started may not have the permissions yet.
      const answer = await eventually(async () => {
        const said = await reader.call('LLEN', key);
        expect(said).to.match(/^:/);
        return said;
      });
      const length = Number(answer.slice(1));
      expect(length).to.be.within(answered.length, sent);
      const items = itemsOf(await reader.call('LRANGE', key, '0', '-1'));
      const counted = items.filter((item) => !item.startsWith('own-')).map(Number);
      expect(items.filter((_, i) => i % 2 === 0)).to.deep.equal(
        Array.from({ length: Math.ceil(length / 2) }, (_, i) => `own-${2 * i + 1}`),
      );
      expect(counted.every((n, i) => i === 0 || n === (counted[i - 1] as number) + 1)).to.equal(true);
      answered.forEach((answer, i) => {
        expect(answer).to.equal(i % 2 === 0 ? `:${i + 1}\r\n` : `:${counted[(i - 1) / 2]}\r\n`);
      });
      await again.kill('SIGTERM');
    }
  });
});

function itemsOf(answer: string): string[] {
  return answer
    .split('\r\n')
    .slice(1, -1)
    .filter((_, i) => i % 2 === 1);
}
