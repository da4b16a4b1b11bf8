/**
 * A million messages delayed by a day: their memory after a minute in which others are published and delivered, the speed of
 * publishing compared with an empty system, and the time of a restart after a `kill -9`: from the start of the process to
 * the first answer about one of them.
 */
import { until } from './child.js';
import { atLeast, atMost, type Bench, type Figure } from './figures.js';
import { tally } from './memory.js';
import { Millrace } from './millrace.js';
import type { ProbeAnswer } from './probe.js';
import { BODY, publishAll, publishRequests, publishSteadily, queueCall, WITH_ROOM } from './queue-load.js';
import { Sink } from './sink.js';
import { sized } from './sizes.js';
import { isWrkMissing, wrk } from './wrk.js';

const MESSAGES = sized(1_000_000, 50_000);
const STEADY_SECONDS = sized(60, 5);
const STEADY_PER_SECOND = 500;
const CONNECTIONS = 64;
const SECONDS = sized(5, 2);
const PROGRESS_STEP = MESSAGES / 5;
const ANSWER_TIMEOUT_MS = 120_000;
const MB = 1024 * 1024;

export const queueDelayed: Bench = {
  name: 'queue-delayed',
  summary: `${MESSAGES} messages delayed by a day: memory, publishing beside them, restart`,
  async run(progress) {
    if (isWrkMissing()) return { figures: [], skipped: ['queue-delayed: wrk is not installed'] };
    const [millrace, sink] = [await Millrace.create(), await Sink.start()];
    try {
      await millrace.start(WITH_ROOM);
      const empty = await millrace.probe();
      const { perSecond: emptyRate, count } = await publishing(millrace, sink);
      const { last, perSecond, answer: loading } = await load(millrace, sink, MESSAGES - count, progress);
      await publishSteadily(`${millrace.queueUrl}/v2/publish/${sink.url}`, STEADY_PER_SECOND, STEADY_SECONDS);
      const serving = await millrace.probe();
      progress(`a minute later: resident ${megabytes(serving.rssBytes)}`);
      const { perSecond: fullRate } = await publishing(millrace, sink);
      await millrace.stop('SIGKILL');
      progress('killed, starting again');
      const restarted = await restart(millrace, last);
      const rate = { name: '  batches while loading', value: perSecond, unit: 'msg/s', note: tally([loading]) };
      return {
        skipped: [],
        figures: [
          ...memoryFigures(empty, serving),
          rate,
          {
            name: 'publishing / in an empty system',
            value: fullRate / emptyRate,
            unit: 'ratio',
            target: atLeast(0.5),
            note: `${Math.round(fullRate)} and ${Math.round(emptyRate)} req/s`,
          },
          ...restarted,
        ],
      };
    } finally {
      await Promise.all([millrace.dispose(), sink.stop()]);
    }
  },
};

/** Publishes delayed messages too, from 64 connections. A first second warms up; its messages are part of the count. */
async function publishing(millrace: Millrace, sink: Sink): Promise<{ perSecond: number; count: number }> {
  const load = {
    url: millrace.queueUrl,
    requests: publishRequests(sink.url, { 'Svc-Delay': '1d' }),
    connections: CONNECTIONS,
  };
  const { requestsPerSecond: warmUp } = await wrk({ ...load, seconds: 1 });
  const { requestsPerSecond: perSecond } = await wrk({ ...load, seconds: SECONDS });
  return { perSecond, count: Math.min(MESSAGES / 2, Math.round(warmUp + perSecond * SECONDS)) };
}

async function load(
  millrace: Millrace,
  sink: Sink,
  count: number,
  progress: (line: string) => void,
): Promise<{ readonly last: string; readonly perSecond: number; readonly answer: ProbeAnswer }> {
  const headers = { 'Content-Type': 'text/plain', 'Svc-Delay': '1d' };
  const item = { destination: sink.url, headers, body: BODY };
  await millrace.probe();
  const startedAtMs = performance.now();
  let last: readonly string[] = [];
  for (let done = 0; done < count; ) {
    const step = Math.min(PROGRESS_STEP, count - done);
    last = await publishAll(millrace, step, () => item);
    done += step;
    progress(`${done} delayed after ${((performance.now() - startedAtMs) / 1000).toFixed(1)} s`);
  }
  const perSecond = (count * 1000) / (performance.now() - startedAtMs);
  return { last: last.at(-1) as string, perSecond, answer: await millrace.probe() };
}

async function restart(millrace: Millrace, id: string): Promise<readonly Figure[]> {
  const startedAtMs = performance.now();
  const readyMs = await millrace.start(WITH_ROOM);
  // Loading the program is not part of the recovery.
  await millrace.probe();
  const isThere = async () => (await queueCall(millrace, 'GET', `/v2/messages/${id}`)) !== undefined;
  await until(isThere, ANSWER_TIMEOUT_MS, 'the recovery');
  const servingMs = performance.now() - startedAtMs;
  const answer = await millrace.probe();
  return [
    { name: 'restart, to the first answer', value: servingMs / 1000, unit: 's', target: atMost(20) },
    { name: '  to the ready line', value: readyMs / 1000, unit: 's' },
    { name: '  own synchronous work, longest', value: answer.ownWorkMaxMs, unit: 'ms', note: tally([answer]) },
    { name: '  resident, restarted', value: answer.rssBytes / MB, unit: 'MB' },
  ];
}

function memoryFigures(empty: ProbeAnswer, serving: ProbeAnswer): readonly Figure[] {
  const megabytesFigure = (name: string, bytes: number): Figure => ({ name, value: bytes / MB, unit: 'MB' });
  const most = `at most ${megabytes(serving.rssMaxBytes)}`;
  return [
    { ...megabytesFigure('resident, a minute after', serving.rssBytes), target: atMost(450), note: most },
    megabytesFigure('  heap, reserved', serving.heapTotalBytes),
    megabytesFigure('  heap, used', serving.heapUsedBytes),
    megabytesFigure('  external, array buffers included', serving.externalBytes),
    megabytesFigure('  resident, empty', empty.rssBytes),
    {
      name: '  own synchronous work, serving, longest',
      value: serving.ownWorkMaxMs,
      unit: 'ms',
      note: tally([serving]),
    },
  ];
}

function megabytes(bytes: number): string {
  return `${(bytes / MB).toFixed(0)} MB`;
}
