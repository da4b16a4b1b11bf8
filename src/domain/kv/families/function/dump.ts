/**
 * FUNCTION DUMP and RESTORE: all libraries in Redis's file format. Each is a marker and its text; the format version
 * and a checksum follow at the end.
 */
import type { ByteString } from '../../../../kernel/index.js';
import type { CommandContext, Handler } from '../../command-spec.js';
import { libraryHeader, MAX_LIBRARY_BYTES } from '../../lua/index.js';
import { ErrorReply, OK, wrongSubcommand } from '../../reply.js';
import { bodyOf, isIntact } from '../../types/rdb/decode-dump.js';
import { sealPayload } from '../../types/rdb/encode-dump.js';
import { BadFormat, RdbReader } from '../../types/rdb/rdb-reader.js';
import { RdbWriter } from '../../types/rdb/rdb-writer.js';
import { flushLibraries, putLibrary } from './libraries.js';

/** The marker of a library in Redis's files since 7.0. */
const LIBRARY = 245;

const NOT_INTACT = new ErrorReply('ERR DUMP payload version or checksum are wrong');
const NOT_READABLE = new ErrorReply('ERR failed loading functions');
const POLICIES = new ErrorReply('ERR Wrong restore policy given, value should be either FLUSH, APPEND or REPLACE.');

/** FUNCTION DUMP → a payload for RESTORE. */
export const dump: Handler = ({ libraries }) => {
  const out = new RdbWriter();
  for (const [, source] of libraries.entries()) {
    out.byte(LIBRARY);
    out.string(source);
  }
  return sealPayload(out.toBytes());
};

/** FUNCTION RESTORE payload [FLUSH | APPEND | REPLACE]. Restores all libraries or none. */
export const restore: Handler = (context) => {
  const { args } = context;
  if (args.length > 4) throw wrongSubcommand('FUNCTION', 'restore');
  const policy = args.length > 3 ? args.option(3) : 'APPEND';
  if (policy !== 'FLUSH' && policy !== 'APPEND' && policy !== 'REPLACE') throw POLICIES;
  const payload = args.bytes(2);
  if (!isIntact(payload)) throw NOT_INTACT;
  restoreAll(context, sourcesOf(payload), policy);
  return OK;
};

function restoreAll(context: CommandContext, sources: readonly ByteString[], policy: string): void {
  const { libraries, effects } = context;
  const before = [...libraries.entries()];
  const { count, bytes } = effects;
  try {
    if (policy === 'FLUSH') flushLibraries(context);
    for (const source of sources) {
      const { name } = libraryHeader(source);
      if (policy === 'APPEND' && libraries.get(name) !== undefined) {
        throw new ErrorReply(`ERR Library ${name} already exists`);
      }
      putLibrary(context, source, true);
    }
  } catch (problem) {
    effects.rollBack(count, bytes);
    libraries.clear();
    for (const [name, source] of before) libraries.set(name, source);
    throw problem;
  }
}

/** @throws ErrorReply */
function sourcesOf(payload: ByteString): ByteString[] {
  const input = new RdbReader(bodyOf(payload), MAX_LIBRARY_BYTES);
  const sources: ByteString[] = [];
  try {
    while (!input.isAtEnd) {
      if (input.byte() !== LIBRARY) throw NOT_READABLE;
      sources.push(input.string());
    }
  } catch (problem) {
    throw problem instanceof BadFormat ? NOT_READABLE : problem;
  }
  return sources;
}
