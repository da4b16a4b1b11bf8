/**
 * A full-text index of a real process: building it, queries and visibility of writes while others write, and a restart
 * after a `kill -9`. `SEARCH_DOCUMENTS=100000` makes it shorter. Times are those of a client on the same machine, so ratios
 * within the run say more than they do.
 */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { residentOfAllMib } from '../test/support/process-memory.js';
import { until } from './child.js';
import { atLeast, atMost, type Bench, type Figure, median, percentile } from './figures.js';
import { Millrace } from './millrace.js';
import { ranMsOf } from './processor-time.js';
import { SearchTexts } from './search-texts.js';
import { sized } from './sizes.js';

const DOCUMENTS = Number(process.env.SEARCH_DOCUMENTS ?? sized(1_000_000, 5000));
/** About 300 bytes. */
const WORDS = 36;
const LOADED_TOGETHER = 1000;
const SETS = sized(1000, 100);
const QUERIES = sized(1000, 30);
const LOOKS = sized(20, 5);
const WRITE_EVERY_MS = 20;
const FEW_WRITES = 500;
const MANY_WRITES = 5000;
const SEED = 54_321;
const BUILD_TIMEOUT_MS = 1_800_000;
const FILE_TIMEOUT_MS = 180_000;
const MIB = 1024 * 1024;
/** Without this many documents no file is written. */
const STORED_FROM = 5000;

export const searchLive: Bench = {
  name: 'search-live',
  summary: `a full-text index of ${DOCUMENTS} documents in a process, during writes and after a kill`,
  async run(progress) {
    const millrace = await Millrace.create();
    const options = { isWatched: false, nodeFlags: ['--max-old-space-size=6144'], env: { MILLRACE_FSYNC: 'interval' } };
    try {
      await millrace.start(options);
      const run = new LiveIndexRun(millrace, progress);
      await run.load();
      const figures = await run.build();
      figures.push(...(await run.looks()), ...(await run.queries()));
      if (DOCUMENTS >= STORED_FROM) figures.push(await run.restart(() => millrace.start(options)));
      return { figures, skipped: [] };
    } finally {
      await millrace.dispose();
    }
  },
};

class LiveIndexRun {
  readonly #texts = new SearchTexts(SEED);
  #written = 0;

  constructor(
    private readonly millrace: Millrace,
    private readonly progress: (line: string) => void,
  ) {}

  async load(): Promise<void> {
    for (let from = 0; from < DOCUMENTS; from += LOADED_TOGETHER) {
      const many = Math.min(LOADED_TOGETHER, DOCUMENTS - from);
      await this.millrace.post(
        '/pipeline',
        Array.from({ length: many }, (_, at) => this.#set(from + at)),
      );
    }
    this.progress(`${DOCUMENTS} documents are stored`);
  }

  #set(at: number): string[] {
    return ['SET', `d:${at}`, JSON.stringify({ text: this.#texts.text(WORDS), n: at })];
  }

  /** Builds the index during SETs. */
  async build(): Promise<Figure[]> {
    const { millrace } = this;
    const alone: number[] = [];
    for (let count = -SETS / 10; count < SETS; count += 1) {
      const ms = await timed(() => millrace.command('SET', 'other', 'x'.repeat(64)));
      if (count >= 0) alone.push(ms);
    }
    const [memoryBefore, ranBefore] = [await residentOfAllMib([millrace.pid]), await ranMsOf([millrace.pid])];
    const index = ['ON', 'STRING', 'PREFIX', '1', 'd:', 'SCHEMA', 'text', 'TEXT', 'n', 'U64', 'FAST'];
    const startedAtMs = performance.now();
    await millrace.command('SEARCH.CREATE', 'i', ...index);
    let isBuilt = false;
    const built = until(async () => (await this.#isBuilt()) === true, BUILD_TIMEOUT_MS, 'the index').finally(() => {
      isBuilt = true;
    });
    const during: number[] = [];
    while (!isBuilt) during.push(await timed(() => millrace.command('SET', 'other', 'x'.repeat(64))));
    await built;
    const ms = performance.now() - startedAtMs;
    const ranMs = (await ranMsOf([millrace.pid])) - ranBefore;
    const bytes = ((await residentOfAllMib([millrace.pid])) - memoryBefore) * MIB;
    this.progress(`built after ${(ms / 1000).toFixed(1)} s`);
    const note = `p99 ${percentile(during, 99).toFixed(1)} ms beside ${percentile(alone, 99).toFixed(1)} ms`;
    return [
      { name: 'documents indexed in a second', value: (1000 * DOCUMENTS) / ms, unit: 'docs/s', target: atLeast(5000) },
      {
        name: '  in a second of processor time',
        value: (1000 * DOCUMENTS) / ranMs,
        unit: 'docs/s',
        note: `with ${during.length} SETs`,
      },
      {
        name: 'SET p99 meanwhile / before',
        value: percentile(during, 99) / percentile(alone, 99),
        unit: 'ratio',
        target: atMost(1.3),
        note,
      },
      { name: 'SET median meanwhile / before', value: median(during) / median(alone), unit: 'ratio' },
      {
        name: 'memory of a document, resident',
        value: bytes / DOCUMENTS,
        unit: 'bytes',
        target: atMost(1200),
      },
    ];
  }

  async #isBuilt(): Promise<boolean> {
    try {
      return (await this.millrace.command('SEARCH.WAITINDEXING', 'i')) === 1;
    } catch {
      return false;
    }
  }

  /** How soon a write is found. */
  async looks(): Promise<Figure[]> {
    const atRest = await this.#timesToBeFound();
    const { result, perSecond } = await this.#whileWriting(MANY_WRITES, () => this.#timesToBeFound());
    const note = `median ${median(result).toFixed(0)} ms, ${perSecond.toFixed(0)} writes a second`;
    return [
      {
        name: 'a write is found, longest',
        value: Math.max(...atRest),
        unit: 'ms',
        target: atMost(100),
        note: `median ${median(atRest).toFixed(0)} ms`,
      },
      {
        name: `  during ${MANY_WRITES} writes a second`,
        value: Math.max(...result),
        unit: 'ms',
        target: atMost(1000),
        note,
      },
    ];
  }

  async #timesToBeFound(): Promise<number[]> {
    const times: number[] = [];
    for (let look = 0; look < LOOKS; look += 1) {
      this.#written += 1;
      const word = `unique${this.#written}`;
      await this.millrace.command('SET', 'd:look', JSON.stringify({ text: word, n: 0 }));
      const ms = await timed(async () => {
        while (((await this.#query([word])) as unknown[]).length === 0);
      });
      times.push(ms);
    }
    return times;
  }

  #query(words: readonly string[]): Promise<unknown> {
    const filter = JSON.stringify({ $and: words.map((word) => ({ text: { $eq: word } })) });
    return this.millrace.command('SEARCH.QUERY', 'i', filter);
  }

  async queries(): Promise<Figure[]> {
    const { result, perSecond } = await this.#whileWriting(FEW_WRITES, async () => {
      const [queries, gets]: [number[], number[]] = [[], []];
      for (let count = -QUERIES / 10; count < QUERIES; count += 1) {
        const words = this.#texts.text(2).split(' ');
        const query = await timed(() => this.#query(words));
        const get = await timed(() => this.millrace.command('GET', 'other'));
        if (count < 0) continue;
        queries.push(query);
        gets.push(get);
      }
      return { queries, gets };
    });
    const note = `median ${median(result.queries).toFixed(1)} ms, ${perSecond.toFixed(0)} writes a second`;
    return [
      {
        name: `SEARCH.QUERY of two words during ${FEW_WRITES} writes a second, p99`,
        value: percentile(result.queries, 99),
        unit: 'ms',
        target: atMost(20),
        note,
      },
      {
        name: '  / GET in turn, p99',
        value: percentile(result.queries, 99) / percentile(result.gets, 99),
        unit: 'ratio',
      },
      { name: '  / GET in turn, median', value: median(result.queries) / median(result.gets), unit: 'ratio' },
    ];
  }

  async #whileWriting<T>(wanted: number, work: () => Promise<T>): Promise<{ result: T; perSecond: number }> {
    const together = (wanted * WRITE_EVERY_MS) / 1000;
    const startedAtMs = performance.now();
    let writes = 0;
    let isOver = false;
    const writing = (async () => {
      for (let round = 1; !isOver; round += 1) {
        const commands = Array.from({ length: together }, (_, at) => this.#set((writes + at) % DOCUMENTS));
        await this.millrace.post('/pipeline', commands);
        writes += together;
        await pause(Math.max(0, startedAtMs + round * WRITE_EVERY_MS - performance.now()));
      }
    })();
    const result = await work();
    isOver = true;
    await writing;
    return { result, perSecond: (1000 * writes) / (performance.now() - startedAtMs) };
  }

  /** From the start of the process to the first right answer of the index. */
  async restart(start: () => Promise<unknown>): Promise<Figure> {
    const files = async () => readdir(join(this.millrace.directory, 'indexes'), { recursive: true });
    const isStored = async () => (await files()).some((name) => name.endsWith('.index'));
    await until(isStored, FILE_TIMEOUT_MS, 'the file');
    await this.millrace.stop('SIGKILL');
    const startedAtMs = performance.now();
    await start();
    const answers = async () =>
      ((await this.#query([`unique${this.#written}`]).catch(() => [])) as unknown[]).length > 0;
    await until(answers, BUILD_TIMEOUT_MS, 'the index after the start');
    const value = (performance.now() - startedAtMs) / 1000;
    return { name: 'kill -9, start to the first answer', value, unit: 's', target: atMost(10) };
  }
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const startedAtMs = performance.now();
  await work();
  return performance.now() - startedAtMs;
}
