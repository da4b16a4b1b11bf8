/**
 * The random programs through the endpoints of a real process: over RESP every reply has the same bytes as a real server's,
 * and over REST, with RESP2 requested, the same except for documented differences.
 */
import { isAscii } from 'node:buffer';
import { expect } from 'chai';
import { findCommand } from '../../src/domain/kv/index.js';
import { freePort } from '../support/free-port.js';
import { wordsOf } from '../support/kv-case.js';
import { endEverything, type MillraceProcess, PASSWORD, startMillrace, TOKEN } from '../support/millrace-process.js';
import { Dice, PROGRAMS } from '../support/random-programs/index.js';
import { REDIS_BINARIES, type RedisServer, redisVersion, startRedis } from '../support/redis-server.js';
import { RespClient } from '../support/resp-client.js';
import { isWithoutRedis, KNOWN_DIFFERENCES } from './known-differences.js';
import { areAlike } from './pair.js';
import { SEED } from './seed.js';

/** Steps of a family over each endpoint; `DIFFERENTIAL_STEPS` for more. */
const STEPS = Number(process.env.DIFFERENTIAL_STEPS ?? 10_000);
const STEPS_A_PROGRAM = 500;
/** Commands on their way at once; replies are compared in order. */
const PIPELINED = 50;
const ONLY = process.env.DIFFERENTIAL_FAMILY;

type Send = (commands: readonly string[][]) => Promise<string[]>;

const version = redisVersion(REDIS_BINARIES.newer);

describe('differential: endpoints of a real process', function () {
  this.timeout(300_000);
  let redis: RedisServer;
  let millrace: MillraceProcess;
  let resp: RespClient;

  before(async function () {
    if (version === undefined) return this.skip();
    redis = await startRedis(REDIS_BINARIES.newer);
    const port = await freePort();
    millrace = await startMillrace({ env: { MILLRACE_RESP_PORT: String(port) } });
    resp = await RespClient.connect({ port, host: '127.0.0.1' });
    expect(await resp.call(['AUTH', PASSWORD])).to.equal('+OK\r\n');
  });
  after(async () => {
    resp?.close();
    await redis?.stop();
    await endEverything();
  });

  const overResp: Send = (commands) => resp.callAll(commands);

  const overRest: Send = async (commands) => {
    const answer = await fetch(`${millrace.kvUrl}/pipeline`, {
      method: 'POST',
      headers: { authorization: `Bearer ${TOKEN}`, 'svc-response-format': 'resp2' },
      body: JSON.stringify(commands),
    });
    return RespClient.repliesOf(Buffer.from(await answer.arrayBuffer()));
  };

  for (const [family, program] of PROGRAMS) {
    if (ONLY !== undefined && ONLY !== family) continue;
    for (const [face, send] of [
      ['resp', overResp],
      ['rest', overRest],
    ] as const) {
      it(`${family} over ${face} is the same as on the real server (DIFFERENTIAL_SEED=${SEED})`, async () => {
        for (let run = 0; run * STEPS_A_PROGRAM < STEPS; run += 1) {
          const seed = SEED + run;
          const dice = new Dice(seed);
          const shapes = program(dice, redis.major);
          await redis.client.call(['FLUSHALL']);
          await overResp([['FLUSHALL']]);
          for (let step = 0; step < STEPS_A_PROGRAM; step += PIPELINED) {
            const commands = Array.from({ length: PIPELINED }, () => wordsOf(dice.pick(shapes)(), Date.now()))
              .filter((words) => face === 'resp' || isText(words))
              .filter((words) => isSendable(words, face));
            const [ours, theirs] = await Promise.all([send(commands), redis.client.callAll(commands)]);
            expect(ours.length, 'replies').to.equal(commands.length);
            if (compare(commands, ours, theirs, face, redis.major, seed) === 'parted') break;
          }
        }
      });
    }
  }
});

/** What is documented to be different over REST: both sides would hold different data afterwards. */
const REST_DIFFERENCES: readonly ((words: readonly string[]) => boolean)[] = [
  ([name, source, target]) => name?.toUpperCase() === 'COPY' && source === target,
  (words) => /^X(ADD|TRIM)$/i.test(words[0] ?? '') && words.includes('~'),
  (words) => /^XREADGROUP$/i.test(words[0] ?? ''),
  (words) => /^FCALL_RO$/i.test(words[0] ?? ''),
  // Whatever EXPIREAT takes is a time for a field, and none is judged of a missing key.
  ([name = '', , time = '']) => /^HP?EXPIRE(AT)?$/i.test(name) && isOddTime(time),
  ([name = '', ...words]) =>
    /^H[GS]ETEX$/i.test(name) &&
    words.some((word, at) => /^(EX|PX)(AT)?$/i.test(words[at - 1] ?? '') && isOddTime(word)),
];

function isOddTime(word: string): boolean {
  return !/^[0-9]+$/.test(word) || Number(word) >= 2 ** 46;
}

/** JSON holds text alone, and a REST request has a command. */
function isText(words: readonly string[]): boolean {
  return words.every((word) => isAscii(Buffer.from(word, 'latin1')));
}

/** What waits would wait for ever; what is refused over REST is told so, in words of its own. */
function isSendable(words: readonly string[], face: string): boolean {
  const spec = findCommand(words);
  if (spec?.flags.includes('blocking') && (face === 'resp' || spec.rest !== undefined)) return false;
  if (face === 'rest' && REST_DIFFERENCES.some((differs) => differs(words))) return false;
  return words[0] !== '' && !(face === 'rest' && spec?.restProblem?.(words) !== undefined);
}

function compare(
  commands: readonly string[][],
  ours: readonly string[],
  theirs: readonly string[],
  face: string,
  major: number,
  seed: number,
): 'alike' | 'parted' {
  for (const [index, words] of commands.entries()) {
    const [our, their] = [ours[index] as string, theirs[index] as string];
    if (isWithoutRedis(our) || areAlike(words, our, their)) continue;
    // Over REST errors are worded as documented for it; their classes are the same.
    if (face === 'rest' && our.startsWith('-') && their.startsWith('-')) continue;
    const upper = words.map((word, at) => (at === 0 ? word.toUpperCase() : word));
    const spec = findCommand(words);
    const known = KNOWN_DIFFERENCES.find(({ covers }) =>
      covers({ spec, words: upper, ours: our, theirs: their, major }),
    );
    if (known?.parts === true) return 'parted';
    if (known !== undefined) continue;
    const before = commands.slice(Math.max(0, index - 10), index).map((line) => line.join(' '));
    const detail = JSON.stringify({ words, ours: our, theirs: their, before });
    expect.fail(`DIFFERENTIAL_SEED=${seed}: ${detail}`);
  }
  return 'alike';
}
