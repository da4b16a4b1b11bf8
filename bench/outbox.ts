/**
 * The processor time of a SET with a message in one transaction, beside a SET and a publish by HTTP, and of a SET
 * alone. Eight callers ask at the same time; messages are delayed, so that none is delivered.
 */
import { request } from 'undici';
import { atMost, type Bench, median } from './figures.js';
import { Millrace, PASSWORD, TOKEN } from './millrace.js';
import { ranMsOf, withServer } from './processor-time.js';
import { RespLink } from './resp-link.js';
import { sized } from './sizes.js';

const ROUNDS = sized(5, 1);
const COMMANDS = sized(4000, 400);
const CALLERS = 8;
const VALUE = 'v'.repeat(64);
const BODY = 'b'.repeat(200);
const DESTINATION = 'http://127.0.0.1:9/mail';

type Alternative = readonly [name: string, ask: (caller: number, key: string) => Promise<unknown>];

export const outbox: Bench = {
  name: 'outbox',
  summary: 'a SET with a message in one transaction, beside a SET and a publish by HTTP',
  async run(progress) {
    const millrace = await Millrace.create();
    try {
      await millrace.start({ isWatched: false });
      const links = await Promise.all(
        Array.from({ length: CALLERS }, () => RespLink.open(millrace.respPort, PASSWORD)),
      );
      const link = (caller: number) => links[caller] as RespLink;
      const url = `${millrace.queueUrl}/v2/publish/${DESTINATION}`;
      const headers = { authorization: `Bearer ${TOKEN}`, 'svc-delay': '1d' };
      const publish = async () => (await request(url, { method: 'POST', headers, body: BODY })).body.dump();
      const alternatives: readonly Alternative[] = [
        ['SET', (caller, key) => link(caller).ask('SET', key, VALUE)],
        [
          'SET, then a publish',
          async (caller, key) => {
            await link(caller).ask('SET', key, VALUE);
            await publish();
          },
        ],
        [
          'SET and QUEUE.PUBLISH',
          (caller, key) => {
            const to = link(caller);
            const asked = [
              to.ask('MULTI'),
              to.ask('SET', key, VALUE),
              to.ask('QUEUE.PUBLISH', DESTINATION, BODY, 'DELAY', '1d'),
              to.ask('EXEC'),
            ];
            return Promise.all(asked);
          },
        ],
      ];
      const pids = await withServer(millrace.pid);
      const costs = new Map<string, number[]>(alternatives.map(([name]) => [name, []]));
      for (let round = 0; round <= ROUNDS; round += 1) {
        for (const [name, ask] of alternatives) {
          const micros = await cost(pids, ask);
          progress(`${round === 0 ? 'warm-up' : `round ${round} of ${ROUNDS}`}: ${name} ${micros.toFixed(0)} µs`);
          if (round > 0) costs.get(name)?.push(micros);
        }
      }
      for (const each of links) each.close();
      const of = (name: string) => median(costs.get(name) ?? []);
      const ratio = of('SET and QUEUE.PUBLISH') / of('SET, then a publish');
      const note = alternatives.map(([name]) => `${name} ${of(name).toFixed(0)} µs`).join(', ');
      const name = 'a SET with QUEUE.PUBLISH / a SET and a publish, processor time';
      return { figures: [{ name, value: ratio, unit: '×', target: atMost(1.3), note }], skipped: [] };
    } finally {
      await millrace.dispose();
    }
  },
};

/** Microseconds for each command, of the process and its nats-server, once all accepted messages are stored. */
async function cost(pids: readonly number[], ask: Alternative[1]): Promise<number> {
  const before = await ranMsOf(pids);
  const load = async (caller: number) => {
    for (let i = caller; i < COMMANDS; i += CALLERS) await ask(caller, `key:${i}`);
  };
  await Promise.all(Array.from({ length: CALLERS }, (_, caller) => load(caller)));
  return (((await ranMsOf(pids)) - before) * 1000) / COMMANDS;
}
