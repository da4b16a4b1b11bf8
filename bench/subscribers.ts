/**
 * The cost of idle subscribers, and the delay until many of them receive a message: over the native protocol and over event
 * streams. This process holds all of them; its own work is part of every delay.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { atMost, type Bench, type Figure } from './figures.js';
import { Listener } from './listener.js';
import { Millrace, PASSWORD, TOKEN } from './millrace.js';
import { RespLink } from './resp-link.js';
import { sized } from './sizes.js';

/** Just below the number of connections that a face takes, as there is one more that asks. */
const IDLE = sized(9_990, 1000);
const LISTENING = 1_000;
const OPENED_AT_ONCE = 100;
const MESSAGES = sized(100, 20);
const MESSAGE_EVERY_MS = 50;
const SETTLE_MS = 3_000;
const KB = 1024;
const IDLE_KB = 20;
const P99_MS = 50;

type Endpoint = 'native protocol' | 'event streams';

export const subscribers: Bench = {
  name: 'subscribers',
  summary: `${IDLE} idle subscribers, and messages to ${LISTENING}`,
  async run(progress) {
    const figures: Figure[] = [];
    for (const face of ['native protocol', 'event streams'] as const) {
      const millrace = await Millrace.create();
      try {
        await millrace.start({ nodeFlags: ['--expose-gc'] });
        // Before the many: their sockets would make the memory of later ones look free.
        figures.push(await idle(millrace, face, progress));
        figures.push(await delays(millrace, face, progress));
      } finally {
        await millrace.dispose();
      }
    }
    return { figures, skipped: [] };
  },
};

async function idle(millrace: Millrace, face: Endpoint, progress: (line: string) => void): Promise<Figure> {
  // The first subscribers make V8 compile the code that all use.
  const first = await open(millrace, face, OPENED_AT_ONCE, (index) => `warm:${index}`);
  await delay(SETTLE_MS);
  const before = await millrace.probe('collect');
  const listeners = await open(millrace, face, IDLE - OPENED_AT_ONCE, (index) => `channel:${index % 1000}`);
  await delay(SETTLE_MS);
  const after = await millrace.probe('collect');
  const count = listeners.length;
  const resident = (after.rssBytes - before.rssBytes) / count / KB;
  const heap = (after.heapUsedBytes - before.heapUsedBytes) / count / KB;
  for (const listener of [...first, ...listeners]) listener.close();
  await delay(SETTLE_MS);
  const note = `${count} of them, ${heap.toFixed(1)} KB of it live heap`;
  progress(`${face}: ${resident.toFixed(1)} KB each, ${note}`);
  return { name: `idle subscriber, ${face}`, value: resident, unit: 'KB', target: atMost(IDLE_KB), note };
}

async function delays(millrace: Millrace, face: Endpoint, progress: (line: string) => void): Promise<Figure> {
  const listeners = await open(millrace, face, LISTENING, () => 'news');
  const publisher = await RespLink.open(millrace.respPort, PASSWORD);
  const delaysMs: number[] = [];
  let sentAtMs = 0;
  for (const listener of listeners) listener.onMessage = () => delaysMs.push(performance.now() - sentAtMs);
  for (let i = 0; i < MESSAGES; i += 1) {
    sentAtMs = performance.now();
    await publisher.ask('PUBLISH', 'news', `message ${i}`);
    while (delaysMs.length < (i + 1) * LISTENING && performance.now() - sentAtMs < 5_000) await delay(1);
    await delay(MESSAGE_EVERY_MS);
  }
  publisher.close();
  for (const listener of listeners) listener.close();
  delaysMs.sort((a, b) => a - b);
  const at = (share: number) => delaysMs[Math.floor(share * (delaysMs.length - 1))] ?? Number.NaN;
  const note = `p50 ${at(0.5).toFixed(1)} ms, longest ${at(1).toFixed(1)} ms, ${delaysMs.length} of ${MESSAGES * LISTENING} arrived`;
  progress(`${face}: p99 ${at(0.99).toFixed(1)} ms, ${note}`);
  return { name: `message to ${LISTENING}, p99, ${face}`, value: at(0.99), unit: 'ms', target: atMost(P99_MS), note };
}

async function open(
  millrace: Millrace,
  face: Endpoint,
  count: number,
  channelOf: (index: number) => string,
): Promise<readonly Listener[]> {
  const port = face === 'event streams' ? Number(new URL(millrace.url).port) : millrace.respPort;
  const listeners: Listener[] = [];
  for (let from = 0; from < count; from += OPENED_AT_ONCE) {
    const some = Array.from({ length: Math.min(OPENED_AT_ONCE, count - from) }, (_, i) => channelOf(from + i)).map(
      (channel) =>
        face === 'event streams' ? Listener.overHttp(port, TOKEN, channel) : Listener.overResp(port, PASSWORD, channel),
    );
    listeners.push(...(await Promise.all(some)));
  }
  return listeners;
}
