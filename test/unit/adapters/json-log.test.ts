/** Proves JLO1–JLO3, LM1–LM3. */
import { expect } from 'chai';
import { JsonLog } from '../../../src/adapters/node/index.js';
import { type LogLevel, Secret } from '../../../src/config/index.js';
import { MillraceError } from '../../../src/kernel/index.js';
import { processorMsOf } from '../../support/processor-time.js';

const CLOCK = { nowMs: () => Date.UTC(2026, 0, 2, 3, 4, 5, 6), monotonicMs: () => 0 };
const CANARY = 'canary-51c0-do-not-print';

function logTo(lines: string[], level: LogLevel = 'info') {
  return new JsonLog({ level, clock: CLOCK, write: (line) => lines.push(line) > 0 });
}

/** The one line that `act` logs, parsed. */
function lineOf(act: (log: JsonLog) => void, level: LogLevel = 'info'): Record<string, unknown> {
  const lines: string[] = [];
  act(logTo(lines, level));
  expect(lines).to.have.length(1);
  return JSON.parse(lines[0] as string);
}

describe('log: lines', () => {
  it('are JSON objects with time, level and event first, then the fields', () => {
    const lines: string[] = [];
    logTo(lines).info('shard.claimed', { shard: 'KV_1', epoch: 4 });
    expect(lines).to.deep.equal([
      '{"time":"2026-01-02T03:04:05.006Z","level":"info","event":"shard.claimed","shard":"KV_1","epoch":4}\n',
    ]);
  });

  it('stay single lines for any value of a field', () => {
    const lines: string[] = [];
    logTo(lines).warn('x', { reason: 'a\r\n{"level":"error","event":"forged"}' });
    expect(lines[0]?.trimEnd()).to.not.match(/[\r\n]/);
  });

  it('below the level are not written', () => {
    const lines: string[] = [];
    const log = logTo(lines, 'warn');
    log.debug('a');
    log.info('b');
    log.warn('c');
    log.error('d');
    expect(lines.map((line) => JSON.parse(line).event)).to.deep.equal(['c', 'd']);
  });

  it('carry the fields of their log', () => {
    const line = lineOf((log) => log.with({ shard: 'KV_1' }).with({ epoch: 2 }).info('x', { n: 1 }));
    expect(line).to.include({ shard: 'KV_1', epoch: 2, n: 1 });
  });

  it('do not let fields replace time, level and event', () => {
    const line = lineOf((log) => log.with({ time: 'now' }).info('x', { level: 'error', event: 'y' }));
    expect(line).to.include({ level: 'info', event: 'x', level_: 'error', event_: 'y', time_: 'now' });
  });

  it('show an error as its chain of messages, with code and details, without a stack', () => {
    const cause = new Error('socket closed');
    const error = new MillraceError('JOURNAL_UNAVAILABLE', 'append failed', { shard: 'KV_1' }, cause);
    const line = lineOf((log) => log.error('x', { error }));
    expect(line.error).to.deep.equal({
      message: 'append failed: socket closed',
      code: 'JOURNAL_UNAVAILABLE',
      details: { shard: 'KV_1' },
    });
  });

  it('show stacks when the level is debug', () => {
    const line = lineOf((log) => log.error('x', { error: new Error('boom') }), 'debug');
    expect((line.error as { stack: string }).stack).to.match(/boom\n\s+at /);
  });

  it('are bounded: long texts are cut, deep and long structures end, bytes are counted', () => {
    const circle: Record<string, unknown> = {};
    circle.self = circle;
    const line = lineOf((log) =>
      log.info('x', {
        long: 'y'.repeat(100_000),
        many: Array.from({ length: 1000 }, (_, at) => at),
        circle,
        value: Buffer.from(CANARY),
        count: 12n,
      }),
    );
    expect(JSON.stringify(line).length).to.be.below(10_000);
    expect(line).to.include({ value: `<${CANARY.length} bytes>`, count: '12' });
  });

  it('are written even when a field throws', () => {
    const bad = {
      get boom() {
        throw new Error('no');
      },
    };
    expect(lineOf((log) => log.info('x', { bad, good: 1 }))).to.include({ bad: '<unprintable>', good: 1 });
  });

  it('that were dropped for lack of room are counted in the next line', () => {
    const lines: string[] = [];
    let hasRoom = false;
    const log = new JsonLog({ level: 'info', clock: CLOCK, write: (line) => hasRoom && lines.push(line) > 0 });
    log.info('lost');
    log.with({ a: 1 }).info('lost too');
    hasRoom = true;
    log.info('seen');
    log.info('and again');
    expect(lines.map((line) => JSON.parse(line).droppedLines)).to.deep.equal([2, undefined]);
  });
});

describe('log: secrets', () => {
  const places: Record<string, Record<string, unknown>> = {
    'a field named token': { kvToken: CANARY },
    'a field named password': { password: CANARY },
    'a field named secret': { clientSecret: CANARY },
    'an authorization header': { Authorization: `Bearer ${CANARY}` },
    'a cookie': { cookie: CANARY },
    'a query': { query: CANARY, querystring: CANARY },
    'a body': { body: CANARY, requestBody: { a: CANARY } },
    'headers, whole': { headers: { 'x-anything': CANARY } },
    'an API key': { apiKey: CANARY, mgmt_key: CANARY },
    'a structure under a telling name': { credentials: { user: 'me', pass: CANARY } },
    'a structure that holds a telling name': { request: { path: '/', token: CANARY } },
    'a list under a telling name': { tokens: [CANARY] },
    'a list of structures': { clients: [{ id: 1, token: CANARY }] },
    'the query of a path': { path: `/get/x?_token=${CANARY}` },
    'the whole query of a path': { path: `/get/x?y=${CANARY}` },
    'the query of an URL in any text': { note: `called http://h/x?a=${CANARY} today` },
    'the userinfo of an URL in any text': { note: `dial nats://me:${CANARY}@10.0.0.1:4222 failed` },
    'a token parameter in any text': { note: `GET /get/x?a=b&_token=${CANARY} HTTP/1.1` },
    'an authorization in any text': { note: `sent Authorization: Bearer ${CANARY}` },
    'the message of an error': { error: new Error(`GET /x?_token=${CANARY} failed`) },
    'the cause of an error': { error: new Error('x', { cause: new Error(`http://me:${CANARY}@h/`) }) },
    'the details of an error': { error: new MillraceError('INVALID', 'x', { token: CANARY, deep: { body: CANARY } }) },
    'a secret of the configuration': { value: new Secret(CANARY), nested: [new Secret(CANARY)] },
    'a text that is cut before the end of the secret': { note: `${'x'.repeat(2030)} nats://me:${CANARY}@h` },
    bytes: { value: Buffer.from(CANARY), nested: { value: new TextEncoder().encode(CANARY) } },
  };
  for (const [place, fields] of Object.entries(places)) {
    for (const level of ['info', 'debug'] as const) {
      it(`are masked in ${place}, at ${level}`, () => {
        const lines: string[] = [];
        const log = logTo(lines, level);
        log.info('x', fields);
        log.with(fields).info('y');
        expect(lines).to.have.length(2);
        expect(lines.join('')).to.not.include(CANARY);
      });
    }
  }

  it('are masked in a hostile text without stalling the loop', () => {
    const hostile = { a: 'a://'.repeat(50_000), b: 'tokenpassword'.repeat(20_000), c: 'basic '.repeat(50_000) };
    const tookMs = processorMsOf(() => void lineOf((log) => log.info('x', hostile)));
    expect(tookMs, 'of the processor').to.be.below(1_000);
  });

  it('do not include numbers: a count of tokens stays visible', () => {
    expect(lineOf((log) => log.info('x', { tokens: 3, bodyBytes: 12, hasToken: true }))).to.include({
      tokens: 3,
      bodyBytes: 12,
      hasToken: true,
    });
  });

  it('leave the rest of a text readable', () => {
    const line = lineOf((log) => log.info('x', { path: '/get/key?_token=abc', reason: 'no responders for KV_1' }));
    expect(line).to.include({ path: '/get/key?********', reason: 'no responders for KV_1' });
  });
});
