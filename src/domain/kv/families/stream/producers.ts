/** Idempotence of XADD: IDMP and IDMPAUTO, XCFGSET, and the effect that records a message. */
import { type ByteString, PRODUCERS_FORMAT_LEVEL } from '../../../../kernel/index.js';
import type { Args } from '../../args.js';
import type { CommandContext, CommandSpec, Handler } from '../../command-spec.js';
import { requireFormat } from '../../command-table.js';
import { parseInt64 } from '../../numbers.js';
import { ERRORS, ErrorReply, OK, unknownCommand } from '../../reply.js';
import { mergeSorted, SlicePace } from '../../slices.js';
import { Stream } from '../../types/stream.js';
import type { StreamId } from '../../types/stream-id.js';
import { configureCommand, DEFAULT_ID_SECONDS, DEFAULT_MAX_IDS, recordCommand } from '../../types/stream-producers.js';
import { xxh3 } from '../../types/xxh3.js';
import { family, row, WRITES } from '../rows.js';
import { readId } from './ids.js';

export const onlyGeneratedIds = new ErrorReply(
  'ERR syntax error, IDMP/IDMPAUTO can be used only with auto-generated IDs',
);
const specifiedTwice = new ErrorReply('ERR syntax error, IDMP/IDMPAUTO specified multiple times');
const emptyId = new ErrorReply('ERR syntax error, IDMP requires a non-empty idempotent ID');
const nothingGiven = new ErrorReply('ERR At least one parameter must be specified');
const MAX_ID_SECONDS = 86_400;
const MAX_IDS = 10_000;
const badSeconds = new ErrorReply(`ERR IDMP-DURATION must be between 1 and ${MAX_ID_SECONDS} seconds`);
const badMaxIds = new ErrorReply(`ERR IDMP-MAXSIZE must be between 1 and ${MAX_IDS} entries`);

/** A message as the options name it. */
export interface GivenMessage {
  readonly producer: ByteString;
  /** Undefined: it follows from the fields. */
  readonly id: ByteString | undefined;
}

interface Message {
  readonly producer: ByteString;
  readonly id: ByteString;
}

/** Reads IDMP or IDMPAUTO at `at`; undefined if another word is there. @param known the option that was read before */
export function readMessage(
  args: Args,
  at: number,
  known: GivenMessage | undefined,
): { readonly message: GivenMessage; readonly last: number } | undefined {
  const option = args.option(at);
  const words = option === 'IDMP' ? 2 : option === 'IDMPAUTO' ? 1 : 0;
  if (words === 0 || at + words >= args.length) return undefined;
  if (known !== undefined) throw specifiedTwice;
  const producer = args.bytes(at + 1);
  if (producer === '') throw new ErrorReply(`ERR syntax error, ${option} requires a non-empty producer ID`);
  const id = words === 2 ? args.bytes(at + 2) : undefined;
  if (id === '') throw emptyId;
  return { message: { producer, id }, last: at + words };
}

/** The message with its id: for IDMPAUTO the hash of the fields, in any order. @throws ErrorReply */
export function* messageOf(
  context: CommandContext,
  { producer, id }: GivenMessage,
  fieldsAt: number,
): Generator<void, Message> {
  requireFormat(context, 'XADD with IDMP', PRODUCERS_FORMAT_LEVEL);
  if (id !== undefined) return { producer, id };
  const { args } = context;
  const hashes: string[] = [];
  const pace = new SlicePace();
  for (let at = fieldsAt; at < args.length; at += 2) {
    const name = args.bytes(at);
    hashes.push(xxh3(`${name.length}:${name}${args.bytes(at + 1)}`));
    if (pace.isDue()) yield;
  }
  const sorted = yield* mergeSorted(hashes, (a, b) => (a < b ? -1 : 1));
  return { producer, id: xxh3(sorted.join('')) };
}

/** The entry of a repeated message. */
export function findMessage({ nowMs }: CommandContext, stream: Stream, message: Message): StreamId | undefined {
  const { producers } = stream;
  const found = producers?.find(message.producer, message.id, nowMs);
  if (producers !== undefined && found !== undefined) producers.duplicates += 1;
  return found;
}

/** Records that the message became the stream's last entry. */
export function recordMessage({ effects }: CommandContext, key: ByteString, stream: Stream, message: Message): void {
  if (stream.producers === undefined) {
    const settings = { seconds: DEFAULT_ID_SECONDS, maxIds: DEFAULT_MAX_IDS };
    stream.configureProducers(settings);
    effects.push(...configureCommand(key, settings));
  }
  stream.recordMessage(message.producer, message.id, stream.lastId);
  effects.push(...recordCommand(key, message.producer, message.id, stream.lastId));
}

/** XCFGSET key [IDMP-DURATION seconds] [IDMP-MAXSIZE n] → OK. A change forgets all messages. */
export const configure: Handler = ({ args, keyspace, effects, notify }) => {
  const key = args.bytes(1);
  const stream = keyspace.fetchKind(key, Stream);
  if (stream === undefined) throw ERRORS.noSuchKey;
  let seconds: number | undefined;
  let maxIds: number | undefined;
  for (let at = 2; at < args.length; at += 2) {
    const option = args.option(at);
    if (option === 'IDMP-DURATION') seconds = setting(args, at, seconds, MAX_ID_SECONDS, badSeconds);
    else if (option === 'IDMP-MAXSIZE') maxIds = setting(args, at, maxIds, MAX_IDS, badMaxIds);
    else throw ERRORS.syntax;
  }
  if (seconds === undefined && maxIds === undefined) throw nothingGiven;
  const known = stream.producers?.settings;
  const settings = {
    seconds: seconds ?? known?.seconds ?? DEFAULT_ID_SECONDS,
    maxIds: maxIds ?? known?.maxIds ?? DEFAULT_MAX_IDS,
  };
  if (known?.seconds === settings.seconds && known.maxIds === settings.maxIds) return OK;
  const before = stream.bytes;
  stream.configureProducers(settings);
  keyspace.changed(key, stream, before);
  effects.push(...configureCommand(key, settings));
  notify('t', 'xcfgset', key);
  return OK;
};

function setting(args: Args, at: number, known: number | undefined, most: number, problem: ErrorReply): number {
  const word = args.bytes(at + 1);
  if (known !== undefined) throw new ErrorReply(`ERR ${args.option(at)} specified multiple times`);
  const value = parseInt64(word);
  if (value === undefined) throw ERRORS.notAnInteger;
  if (typeof value !== 'number' || value < 1 || value > most) throw problem;
  return value;
}

/** Effects of XADD that only run in replay. */
export const STREAM_EFFECTS: readonly CommandSpec[] = family('stream', [
  row('XIDMPRECORD', 5, '8.6.2', 'Records which entry a message became.', {
    ...WRITES,
    handler: ({ args, keyspace, isReplay }) => {
      if (!isReplay) throw unknownCommand(args.words);
      const key = args.bytes(1);
      const stream = keyspace.fetchKind(key, Stream);
      if (stream === undefined) throw ERRORS.noSuchKey;
      const before = stream.bytes;
      stream.recordMessage(args.bytes(2), args.bytes(3), readId(args.bytes(4)));
      keyspace.changed(key, stream, before);
      return OK;
    },
  }),
]);
