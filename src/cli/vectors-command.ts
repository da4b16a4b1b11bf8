/**
 * `millrace vectors`: vectors of an index to lines of JSON, and back, from another index or from lines of other programs.
 * Both sides are reached over the HTTP API of an index, so either may be another installation or a hosted service.
 * An import may be repeated, because a vector with the same id is replaced. At most one request's vectors are in memory.
 */
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { interruptible } from './interruption.js';
import { type ParsedArguments, shown, UsageError } from './parser.js';

/** Vectors of one request, and characters of its body: servers take at least twice as much. */
const BATCH_VECTORS = 200;
const BATCH_CHARACTERS = 4_000_000;
/** A request of a batch takes seconds at most. */
const REQUEST_TIMEOUT_MS = 60_000;

interface Index {
  readonly url: string;
  readonly token: string;
}

interface Sparse {
  readonly indices: readonly number[];
  readonly values: readonly number[];
}

/** A vector as the HTTP API of an index has it. The namespace is missing for the default one. */
interface VectorLine {
  readonly id: string | number;
  readonly vector?: readonly number[] | undefined;
  readonly sparseVector?: Sparse | undefined;
  readonly metadata?: unknown;
  readonly data?: string | undefined;
  readonly namespace?: string | undefined;
}

type Fields = Readonly<Record<string, unknown>>;

/** @returns the exit code. @throws UsageError, errors of files, connections and answers */
export function vectorsCommand(verb: string, asked: ParsedArguments, write: (text: string) => void): Promise<number> {
  return interruptible((signal) =>
    verb === 'export' ? exported(asked, write, signal) : imported(asked, write, signal),
  );
}

async function exported(asked: ParsedArguments, write: (text: string) => void, signal: AbortSignal): Promise<number> {
  const from = indexOf(asked.words[0], asked.options.token, '--token');
  const shownAs = FORMATS[asked.options.format ?? 'vectors'];
  if (shownAs === undefined) throw new UsageError(`--format is ${Object.keys(FORMATS).join(', ')}`);
  for await (const line of vectorsOf(from, asked.options.namespace, signal))
    write(`${JSON.stringify(shownAs(line))}\n`);
  return 0;
}

async function imported(asked: ParsedArguments, write: (text: string) => void, signal: AbortSignal): Promise<number> {
  const { namespace, to: target, token, 'source-token': sourceToken } = asked.options;
  const [source = ''] = asked.words;
  const to = indexOf(target, token, '--token');
  const isUrl = /^https?:\/\//.test(source);
  const lines = isUrl
    ? vectorsOf(indexOf(source, sourceToken, '--source-token'), namespace, signal)
    : linesOf(source, namespace);
  let count = 0;
  let batch: VectorLine[] = [];
  let characters = 0;
  const flush = async () => {
    const [first] = batch;
    if (first === undefined) return;
    const body = `[${batch.map(({ namespace: _, ...vector }) => JSON.stringify(vector)).join(',')}]`;
    await call(to, pathOf('upsert', first.namespace), body, signal);
    count += batch.length;
    batch = [];
    characters = 0;
  };
  for await (const line of lines) {
    const isFull = batch.length >= BATCH_VECTORS || characters >= BATCH_CHARACTERS;
    if (isFull || batch[0]?.namespace !== line.namespace) await flush();
    batch.push(line);
    characters += JSON.stringify(line).length;
  }
  await flush();
  write(shown(asked, { imported: count }, () => `${count} vectors imported\n`));
  return 0;
}

function indexOf(url: string | undefined, token: string | undefined, option: string): Index {
  if (url === undefined || !/^https?:\/\//.test(url)) throw new UsageError('an index is its URL, with http: or https:');
  if (token === undefined) throw new UsageError(`${option} is the token of ${url}`);
  return { url: url.replace(/\/+$/, ''), token };
}

/** All vectors of an index, or of one namespace, in the order of their insertion. */
async function* vectorsOf(from: Index, only: string | undefined, signal: AbortSignal): AsyncGenerator<VectorLine> {
  const names = only === undefined ? ((await call(from, 'list-namespaces', '[]', signal)) as string[]) : [only];
  for (const name of names) {
    const namespace = name === '' ? undefined : name;
    let cursor = '0';
    do {
      const body = { cursor, limit: BATCH_VECTORS, includeVectors: true, includeMetadata: true, includeData: true };
      const page = (await call(from, pathOf('range', namespace), JSON.stringify(body), signal)) as {
        readonly nextCursor: string;
        readonly vectors: readonly VectorLine[];
      };
      for (const vector of page.vectors) yield namespace === undefined ? vector : { ...vector, namespace };
      cursor = page.nextCursor;
    } while (cursor !== '');
  }
}

/** The vectors of a file with one JSON object on each line; `-` is standard input. */
async function* linesOf(file: string, namespace: string | undefined): AsyncGenerator<VectorLine> {
  const input = file === '-' ? process.stdin : createReadStream(file);
  let number = 0;
  for await (const line of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) {
    number += 1;
    if (line.trim() === '') continue;
    const read = readLine(line);
    if (typeof read === 'string') throw new Error(`line ${number} of ${file}: ${read}`);
    yield namespace === undefined ? read : { ...read, namespace };
  }
}

/** The vector, or the reason why the line has none. */
function readLine(line: string): VectorLine | string {
  let given: unknown;
  try {
    given = JSON.parse(line);
  } catch {
    return 'it is not JSON';
  }
  if (!isObject(given)) return 'it is not a JSON object';
  const { id } = given;
  if (typeof id !== 'string' && typeof id !== 'number') return 'it has no id';
  const { dense, sparse } = vectorsIn(given);
  if (dense === undefined && sparse === undefined) return 'it has no vector of numbers';
  const metadata = given.metadata ?? given.payload;
  return {
    id,
    ...(dense !== undefined && { vector: dense }),
    ...(sparse !== undefined && { sparseVector: sparse }),
    ...(isObject(metadata) && { metadata }),
    ...(typeof given.data === 'string' && { data: given.data }),
    ...(typeof given.namespace === 'string' && given.namespace !== '' && { namespace: given.namespace }),
  };
}

/** Both kinds of vectors: under their own names, or as one vector or named ones in `vector`. */
function vectorsIn({ vector, values, ...others }: Fields): { dense?: readonly number[]; sparse?: Sparse } {
  const sparse = [others.sparseVector, others.sparse_values, others.sparseValues].find(isSparse);
  const named = isObject(vector) ? Object.values(vector) : [vector, values];
  const dense = named.find(isNumbers);
  const sparseInside = sparse ?? named.find(isSparse);
  return { ...(dense !== undefined && { dense }), ...(sparseInside !== undefined && { sparse: sparseInside }) };
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isNumbers(value: unknown): value is readonly number[] {
  return Array.isArray(value) && value.length > 0 && value.every((number) => typeof number === 'number');
}

function isSparse(value: unknown): value is Sparse {
  return isObject(value) && isNumbers(value.indices) && isNumbers(value.values);
}

/** The forms of exported lines. */
const FORMATS: Readonly<Record<string, (line: VectorLine) => Fields>> = {
  vectors: (line) => ({ ...line }),
  points: ({ id, vector, sparseVector, metadata, data }) => ({
    id,
    vector: sparseVector === undefined ? vector : { ...(vector && { dense: vector }), sparse: sparseVector },
    payload: { ...(isObject(metadata) && metadata), ...(data !== undefined && { data }) },
  }),
  records: ({ id, vector, sparseVector, metadata, data, namespace }) => ({
    id,
    ...(vector && { values: vector }),
    ...(sparseVector && { sparse_values: sparseVector }),
    metadata: { ...(isObject(metadata) && metadata), ...(data !== undefined && { data }) },
    ...(namespace !== undefined && { namespace }),
  }),
};

function pathOf(command: string, namespace: string | undefined): string {
  return namespace === undefined || namespace === '' ? command : `${command}/${encodeURIComponent(namespace)}`;
}

/** @throws Error with the answer's reason */
async function call({ url, token }: Index, path: string, body: string, signal: AbortSignal): Promise<unknown> {
  const answer = await fetch(`${url}/${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body,
    signal: AbortSignal.any([signal, AbortSignal.timeout(REQUEST_TIMEOUT_MS)]),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${url}/${path} answered ${answer.status}: ${text.slice(0, 300)}`);
  return (JSON.parse(text) as { readonly result: unknown }).result;
}
