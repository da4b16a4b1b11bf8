/**
 * HIMPORT: a connection names a list of fields once, and sends only values afterwards. The lists belong to the
 * connection. Owners get the fields with the values, as a command that no client can send.
 */
import { type CommandSpec, ErrorReply, findCommand, OK, REPLACE_HASH } from '../../../domain/kv/index.js';
import type { ByteString } from '../../../kernel/index.js';
import { namesBytes, type QueuedCommand } from '../client-state.js';
import { NO_MEMORY } from '../memory-refusals.js';
import type { RespClient } from '../resp-client.js';
import type { CommandAnswer, ConnectionCommand } from './connection-command.js';

const DUPLICATE_FIELD = new ErrorReply('ERR duplicate field name in fieldset');
const NO_FIELD_SET = new ErrorReply('ERR no such fieldset');
const WRONG_COUNT = new ErrorReply('ERR value count does not match fieldset field count');

/** HIMPORT PREPARE name field [field …] → OK. Replaces a list of that name. */
function prepare(client: RespClient, words: readonly ByteString[]): CommandAnswer {
  const fields = words.slice(3);
  if (new Set(fields).size < fields.length) return DUPLICATE_FIELD;
  if (!client.link.mayHold(namesBytes(words.slice(2)))) return NO_MEMORY;
  client.fieldSets.put(words[2] as ByteString, fields);
  return OK;
}

/**
 * The command for the owner in place of HIMPORT SET; any other command stays as it is. A refusal is for the client.
 */
export function withFields(
  client: RespClient,
  spec: CommandSpec,
  words: readonly ByteString[],
): QueuedCommand | ErrorReply {
  if (spec.takesFieldSet !== true) return { spec, words };
  const fields = client.fieldSets.of(words[3] as ByteString);
  if (fields === undefined) return NO_FIELD_SET;
  if (fields.length !== words.length - 4) return WRONG_COUNT;
  const expanded = [REPLACE_HASH, words[2] as ByteString];
  for (const [at, field] of fields.entries()) expanded.push(field, words[4 + at] as ByteString);
  return { spec: findCommand(expanded) as CommandSpec, words: expanded };
}

/** The commands change no keys, and a SET after them sees their effect: they are carried out as they arrive. */
const OF_FIELD_SETS = { isIndependent: true, isQueueable: true, isBeforeOthers: true } as const;

export const FIELD_SETS: Readonly<Record<string, ConnectionCommand>> = {
  'HIMPORT PREPARE': { run: prepare, ...OF_FIELD_SETS },
  'HIMPORT DISCARD': {
    run: (client, words) => (client.fieldSets.remove(words[2] as ByteString) ? 1 : 0),
    ...OF_FIELD_SETS,
  },
  'HIMPORT DISCARDALL': { run: (client) => client.fieldSets.clear(), ...OF_FIELD_SETS },
};
