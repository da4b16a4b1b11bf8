/**
 * The running commands of a database for the console: parsed from MONITOR, one batch per second.
 *
 *  MON1 the commands held for a reader are bounded; further ones are counted and reported
 */
import { type ByteString, textOfBytes } from '../../kernel/index.js';
import type { KvEvent } from '../../protocol/index.js';
import { kvPartitions } from '../../protocol/index.js';
import type { AdminCall } from './admin-call.js';
import { FEED_EVERY_MS, MAX_MONITOR_BYTES, MAX_MONITOR_COMMANDS } from './admin-limits.js';
import { openStream } from './open-stream.js';

interface CommandView {
  readonly time: number;
  readonly client: string;
  readonly words: readonly string[];
  /** The command is longer. */
  readonly isCut?: true;
}

/** Events `commands`: `{"commands": […], "leftOut": …}`. */
export async function monitorFeed(call: AdminCall): Promise<void> {
  const place = await call.database();
  const { database } = place;
  const partitions = kvPartitions(database, place);
  await openStream(call, async (stream) => {
    const held = new MonitoredCommands();
    const { events } = call.endpoint.parts;
    const subscription = await events.subscribe({ database, partitions }, 'monitor', '', (event) => held.add(event));
    try {
      stream.begin();
      while (!stream.signal.aborted) {
        const text = held.take();
        if (text !== undefined) await stream.send('commands', text);
        await stream.pause(FEED_EVERY_MS);
      }
    } finally {
      subscription.stop();
    }
  });
}

class MonitoredCommands {
  #commands: CommandView[] = [];
  #leftOut = 0;

  add(event: KvEvent): void {
    if (event.type !== 'monitor') return;
    if (this.#commands.length < MAX_MONITOR_COMMANDS) this.#commands.push(commandView(event.line));
    else this.#leftOut += 1;
  }

  /** @returns JSON; undefined without commands */
  take(): string | undefined {
    if (this.#commands.length === 0) return undefined;
    const text = JSON.stringify({ commands: this.#commands, leftOut: this.#leftOut });
    this.#commands = [];
    this.#leftOut = 0;
    return text;
  }
}

const LINE = /^(\d+)\.(\d{3})\d* \[\d+ (.*?)\] /;
/** A cut word lacks its closing quotation mark. */
const WORD = /"((?:[^"\\]|\\.)*)"?/g;
const ESCAPE = /\\(?:x([0-9a-f]{2})|(.))/g;
const NAMED: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', a: '\x07', b: '\b' };

/** `1721284005.242090 [0 127.0.0.1:50432] "GET" "k"` */
function commandView(line: ByteString): CommandView {
  const [beginning = '', seconds, ms, client = ''] = LINE.exec(line.slice(0, MAX_MONITOR_BYTES)) ?? [];
  const shown = line.slice(beginning.length, beginning.length + MAX_MONITOR_BYTES);
  const words = [...shown.matchAll(WORD)].map(([, word = '']) => textOfBytes(unescaped(word)));
  const isCut = beginning.length + shown.length < line.length;
  return { time: Number(seconds) * 1000 + Number(ms), client, words, ...(isCut && { isCut }) };
}

function unescaped(word: ByteString): ByteString {
  return word.replace(ESCAPE, (_, hex: string | undefined, named: string | undefined) => {
    if (hex !== undefined) return String.fromCharCode(Number.parseInt(hex, 16));
    return NAMED[named ?? ''] ?? named ?? '';
  });
}
