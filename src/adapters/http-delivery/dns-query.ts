/**
 * One question to the name servers of this machine: over UDP, and over TCP where the answer does not fit. Bytes are
 * read and written by dns-packet.
 *
 * Invariants
 *  DQ1 an answer counts only when it comes from the address and port that was asked, to a port of its own for each
 *      try, with the random number and the question that were sent
 *  DQ2 servers are asked in their order, one at a time; one that is silent is left after a second, in later rounds after
 *      twice as long each; one that refuses or breaks off, at once
 *  DQ3 nothing stays open after the signal was aborted or an answer has come
 *
 * There is no limit on the whole here: whoever asks aborts the signal.
 */
import { randomInt } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { connect, isIPv6 } from 'node:net';
import { type Answer, decode, encode, RECURSION_DESIRED } from 'dns-packet';

export type AddressType = 'A' | 'AAAA';

export interface DnsServer {
  readonly address: string;
  readonly port: number;
}

/** Undefined lifetimes: the server did not say for how long there is nothing. */
export type DnsAnswer =
  | { readonly kind: 'addresses'; readonly addresses: readonly string[]; readonly ttlSeconds: number }
  | { readonly kind: 'none'; readonly ttlSeconds: number | undefined };

interface Query {
  readonly id: number;
  readonly name: string;
  readonly type: AddressType;
  readonly bytes: Buffer;
}

type Ask = (server: DnsServer, query: Query, signal: AbortSignal) => Promise<Buffer>;

const FIRST_WAIT_MS = 1000;
/** A wait is longer by up to this part of it, by chance, so that a thousand questions do not all end in one round. */
const WAIT_SPREAD = 0.25;
/** After so many, one wait is longer than any limit on the whole that makes sense. */
const MAX_ROUNDS = 8;
/** Answers of more aliases are taken for loops. */
const MAX_ALIASES = 16;
const NO_ERROR = 0;
const NO_SUCH_NAME = 3;

/** Every server that was asked refused, failed or broke off. */
class NoServerAnswers extends Error {
  readonly code = 'EAI_AGAIN';
}

/** @throws NoServerAnswers; the signal's reason once it is aborted */
export async function queryDns(
  name: string,
  type: AddressType,
  servers: readonly DnsServer[],
  signal: AbortSignal,
): Promise<DnsAnswer> {
  const broken = new Set<DnsServer>();
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    for (const server of servers) {
      if (broken.has(server)) continue;
      const answer = await tryServer(server, name, type, FIRST_WAIT_MS * 2 ** round, signal);
      if (answer === 'silent') continue;
      if (answer !== 'broken') return answer;
      broken.add(server);
    }
    if (broken.size === servers.length) break;
  }
  throw new NoServerAnswers(`no name server answers for ${name}`);
}

async function tryServer(
  server: DnsServer,
  name: string,
  type: AddressType,
  waitMs: number,
  signal: AbortSignal,
): Promise<DnsAnswer | 'silent' | 'broken'> {
  const limit = abortedWith(signal);
  let isSilent = false;
  const timer = setTimeout(
    () => {
      isSilent = true;
      limit.abort();
    },
    waitMs + randomInt(waitMs * WAIT_SPREAD),
  );
  const id = randomInt(0x10000);
  const bytes = encode({ type: 'query', id, flags: RECURSION_DESIRED, questions: [{ name, type, class: 'IN' }] });
  const query = { id, name, type, bytes };
  try {
    let answer = await askOverUdp(server, query, limit.signal);
    if (isCut(answer)) answer = await askOverTcp(server, query, limit.signal);
    return readAnswer(answer, query);
  } catch {
    signal.throwIfAborted();
    return isSilent ? 'silent' : 'broken';
  } finally {
    clearTimeout(timer);
    limit.release();
  }
}

/** Nobody reads it, and one for each of a thousand questions, with a stack of its own, takes longer than all the rest. */
const ENDED = new Error('ended');

export interface AbortedWith {
  readonly signal: AbortSignal;
  abort(): void;
  /** The outer one forgets it. */
  release(): void;
}

/** Is aborted with the outer one, or by itself. @throws the reason of one that is aborted already */
export function abortedWith(outer: AbortSignal): AbortedWith {
  outer.throwIfAborted();
  const own = new AbortController();
  const abort = () => own.abort(ENDED);
  outer.addEventListener('abort', abort);
  return { signal: own.signal, abort, release: () => outer.removeEventListener('abort', abort) };
}

const askOverUdp: Ask = (server, query, signal) =>
  new Promise((resolve, reject) => {
    const socket = createSocket(isIPv6(server.address) ? 'udp6' : 'udp4');
    const end = (settle: () => void) => {
      signal.removeEventListener('abort', onAbort);
      socket.removeAllListeners();
      // An error that is on its way is nobody's any more.
      socket.on('error', () => {});
      socket.close();
      settle();
    };
    const onAbort = () => end(() => reject(signal.reason));
    signal.addEventListener('abort', onAbort);
    socket.on('error', (error) => end(() => reject(error)));
    socket.on('message', (bytes) => {
      if (isFor(bytes, query)) end(() => resolve(bytes));
    });
    socket.on('connect', () => socket.send(query.bytes));
    // What comes from elsewhere is dropped by the kernel then.
    socket.connect(server.port, server.address);
  });

const askOverTcp: Ask = (server, query, signal) =>
  new Promise((resolve, reject) => {
    const socket = connect({ host: server.address, port: server.port });
    const end = (settle: () => void) => {
      signal.removeEventListener('abort', onAbort);
      socket.destroy();
      settle();
    };
    const onAbort = () => end(() => reject(signal.reason));
    signal.addEventListener('abort', onAbort);
    let received = Buffer.alloc(0);
    socket.on('error', (error) => end(() => reject(error)));
    socket.on('close', () => end(() => reject(new NoServerAnswers('closed'))));
    socket.on('data', (chunk) => {
      received = Buffer.concat([received, chunk]);
      // Lengths have two bytes: no answer is longer than 64 KiB.
      if (received.length < 2) return;
      const length = received.readUInt16BE(0);
      if (received.length < 2 + length) return;
      const bytes = received.subarray(2, 2 + length);
      end(() => (isFor(bytes, query) ? resolve(bytes) : reject(new NoServerAnswers('another answer'))));
    });
    const head = Buffer.alloc(2);
    head.writeUInt16BE(query.bytes.length);
    socket.write(Buffer.concat([head, query.bytes]));
  });

/** DQ1; the question is repeated in an answer, at the same place, in any case of its letters. */
function isFor(bytes: Buffer, { id, bytes: asked }: Query): boolean {
  if (bytes.length < asked.length || bytes.readUInt16BE(0) !== id) return false;
  const isAnswer = ((bytes[2] as number) & 0x80) !== 0;
  const repeated = bytes.toString('latin1', 12, asked.length).toLowerCase();
  return isAnswer && bytes.readUInt16BE(4) === 1 && repeated === asked.toString('latin1', 12).toLowerCase();
}

function isCut(bytes: Buffer): boolean {
  return ((bytes[2] as number) & 0x02) !== 0;
}

/** @throws when the server did not do what was asked, or the bytes are none of DNS */
function readAnswer(bytes: Buffer, { name, type }: Query): DnsAnswer {
  const code = (bytes[3] as number) & 0x0f;
  if (code !== NO_ERROR && code !== NO_SUCH_NAME) throw new NoServerAnswers(`code ${code}`);
  const { answers = [], authorities = [] } = decode(bytes);
  let owner = name;
  let ttlSeconds = Number.POSITIVE_INFINITY;
  for (let aliases = 0; aliases <= MAX_ALIASES; aliases += 1) {
    const alias = answers.find((record) => record.type === 'CNAME' && isSameName(record.name, owner));
    if (alias?.type !== 'CNAME') break;
    ttlSeconds = Math.min(ttlSeconds, alias.ttl ?? 0);
    owner = alias.data;
  }
  const addresses: string[] = [];
  for (const record of answers) {
    if (record.type !== type || !isSameName(record.name, owner)) continue;
    addresses.push(record.data);
    ttlSeconds = Math.min(ttlSeconds, record.ttl ?? 0);
  }
  if (addresses.length > 0) return { kind: 'addresses', addresses, ttlSeconds };
  return { kind: 'none', ttlSeconds: lifetimeOfNothing(authorities, ttlSeconds) };
}

/** RFC 2308: as the zone's SOA says, which comes with the answer. */
function lifetimeOfNothing(authorities: readonly Answer[], ttlOfAliases: number): number | undefined {
  for (const record of authorities) {
    if (record.type === 'SOA') return Math.min(record.ttl ?? 0, record.data.minimum ?? 0, ttlOfAliases);
  }
  return undefined;
}

function isSameName(a: string, b: string): boolean {
  return a.toLowerCase() === b.toLowerCase();
}
