/**
 * The processor time of a SET with a message in one transaction, compared with a SET and a publish by HTTP, and with a
 * SET alone; and of a SET while another database has triggers. Eight callers ask at the same time; messages are delayed,
 * so that none is delivered.
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

const TRIGGERS = 10;
const OTHER = 'other';

interface Alternative {
  readonly name: string;
  /** Triggers of another database during the measurement. */
  readonly triggers?: number;
  readonly ask: (caller: number, key: string) => Promise<unknown>;
}

export const outbox: Bench = {
  name: 'outbox',
  summary: 'a SET with a message in one transaction, and a SET while another database has triggers',
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
      const set = (caller: number, key: string) => link(caller).ask('SET', key, VALUE);
      const alternatives: readonly Alternative[] = [
        { name: 'SET', ask: set },
        { name: 'SET with triggers elsewhere', triggers: TRIGGERS, ask: set },
        { name: 'SET, then a publish', ask: (caller, key) => set(caller, key).then(publish) },
        {
          name: 'SET and QUEUE.PUBLISH',
          ask: (caller, key) => {
            const to = link(caller);
            const published = ['QUEUE.PUBLISH', DESTINATION, BODY, 'DELAY', '1d'] as const;
            return Promise.all([to.ask('MULTI'), to.ask('SET', key, VALUE), to.ask(...published), to.ask('EXEC')]);
          },
        },
      ];
      await millrace.manage('POST', '/v2/kv/database', { database_name: OTHER, primary_region: 'eu-west-1' });
      const pids = await withServer(millrace.pid);
      const costs = new Map<string, number[]>(alternatives.map(({ name }) => [name, []]));
      for (let round = 0; round <= ROUNDS; round += 1) {
        for (const { name, triggers = 0, ask } of alternatives) {
          const made = await makeTriggers(millrace.queueUrl, triggers);
          const micros = await cost(pids, ask);
          for (const id of made) await triggerCall(millrace.queueUrl, 'DELETE', `/${id}`);
          progress(`${round === 0 ? 'warm-up' : `round ${round} of ${ROUNDS}`}: ${name} ${micros.toFixed(0)} µs`);
          if (round > 0) costs.get(name)?.push(micros);
        }
      }
      for (const each of links) each.close();
      const of = (name: string) => median(costs.get(name) ?? []);
      const note = alternatives.map(({ name }) => `${name} ${of(name).toFixed(0)} µs`).join(', ');
      return {
        figures: [
          {
            name: 'a SET with QUEUE.PUBLISH / a SET and a publish, processor time',
            value: of('SET and QUEUE.PUBLISH') / of('SET, then a publish'),
            unit: '×',
            target: atMost(1.3),
            note,
          },
          {
            name: `a SET while another database has ${TRIGGERS} triggers / without, processor time`,
            value: of('SET with triggers elsewhere') / of('SET'),
            unit: '×',
            target: atMost(1.05),
          },
        ],
        skipped: [],
      };
    } finally {
      await millrace.dispose();
    }
  },
};

/** @returns the ids of the triggers */
async function makeTriggers(queueUrl: string, count: number): Promise<readonly string[]> {
  const ids: string[] = [];
  const destination = { url: DESTINATION };
  const body = { database: OTHER, patterns: ['*'], events: ['set'], destination };
  for (let n = 0; n < count; n += 1) {
    const { triggerId } = (await triggerCall(queueUrl, 'POST', '', body)) as { triggerId: string };
    ids.push(triggerId);
  }
  return ids;
}

async function triggerCall(queueUrl: string, method: string, path: string, body?: object): Promise<unknown> {
  const answer = await fetch(`${queueUrl}/v2/triggers${path}`, {
    method,
    headers: { authorization: `Bearer ${TOKEN}` },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${method} /v2/triggers${path}: ${answer.status} ${text.slice(0, 200)}`);
  return text === '' ? undefined : JSON.parse(text);
}

/** Microseconds for each command, of the process and its nats-server, once all accepted messages are stored. */
async function cost(pids: readonly number[], ask: Alternative['ask']): Promise<number> {
  const before = await ranMsOf(pids);
  const load = async (caller: number) => {
    for (let i = caller; i < COMMANDS; i += CALLERS) await ask(caller, `key:${i}`);
  };
  await Promise.all(Array.from({ length: CALLERS }, (_, caller) => load(caller)));
  return (((await ranMsOf(pids)) - before) * 1000) / COMMANDS;
}
