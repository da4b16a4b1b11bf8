/** FUNCTION LOAD, DELETE, FLUSH, LIST, STATS. Libraries are part of the database. */
import type { ByteString } from '../../../../kernel/index.js';
import type { CommandContext, Handler } from '../../command-spec.js';
import { compileGlob, type Glob } from '../../glob.js';
import type { Libraries } from '../../libraries.js';
import {
  functionHost,
  libraryHeader,
  MAX_LIBRARIES,
  MAX_LIBRARIES_BYTES,
  MAX_LIBRARY_BYTES,
  type RegisteredFunction,
} from '../../lua/index.js';
import { ErrorReply, MapReply, OK, type Reply, SetReply, SimpleString, wrongSubcommand } from '../../reply.js';

const NO_LIBRARY = new ErrorReply('ERR Library not found');
const FLUSH_MODES = new ErrorReply('ERR FUNCTION FLUSH only supports SYNC|ASYNC option');

/** FUNCTION LOAD [REPLACE] code → the library's name. */
export const load: Handler = (context) => {
  const { args } = context;
  const last = args.length - 1;
  let replaces = false;
  for (let i = 2; i < last; i += 1) {
    if (args.option(i) !== 'REPLACE') throw new ErrorReply(`ERR Unknown option given: ${args.bytes(i)}`);
    replaces = true;
  }
  return putLibrary(context, args.bytes(last), replaces);
};

/**
 * Stores a library. In replay the code is only stored; its functions are registered when one is called. @returns the
 * library's name @throws ErrorReply
 */
export function putLibrary(context: CommandContext, source: ByteString, replaces: boolean): ByteString {
  const { libraries, effects } = context;
  const { name, body } = libraryHeader(source);
  if (!context.isReplay) {
    const isKnown = libraries.get(name) !== undefined;
    if (isKnown && !replaces) throw new ErrorReply(`ERR Library '${name}' already exists`);
    requireRoom(libraries, name, source);
    const host = functionHost(libraries);
    const functions = host.tryOut(context, name, body);
    libraries.set(name, source);
    host.adopt(name, source, functions);
  } else {
    libraries.set(name, source);
  }
  effects.push('FUNCTION', 'LOAD', 'REPLACE', source);
  return name;
}

/** @throws ErrorReply when the database would exceed its limit of libraries or of their bytes */
function requireRoom(libraries: Libraries, name: ByteString, source: ByteString): void {
  const before = libraries.get(name);
  if (source.length > MAX_LIBRARY_BYTES) {
    throw new ErrorReply(`ERR the library is too large: ${source.length} bytes, at most ${MAX_LIBRARY_BYTES}`);
  }
  if (before === undefined && libraries.size >= MAX_LIBRARIES) {
    throw new ErrorReply(
      `ERR too many libraries: a database has at most ${MAX_LIBRARIES}, and '${name}' would be one more; delete some, or register several functions in one library`,
    );
  }
  const bytes = libraries.bytes + source.length - (before?.length ?? 0);
  if (bytes > MAX_LIBRARIES_BYTES) {
    throw new ErrorReply(
      `ERR too many libraries: with '${name}' they would have ${bytes} bytes, at most ${MAX_LIBRARIES_BYTES}; delete some`,
    );
  }
}

export const remove: Handler = ({ args, libraries, effects }) => {
  const name = args.bytes(2);
  if (!libraries.delete(name)) throw NO_LIBRARY;
  effects.push('FUNCTION', 'DELETE', name);
  return OK;
};

/** FUNCTION FLUSH [ASYNC | SYNC]. */
export const flush: Handler = (context) => {
  const { args } = context;
  if (args.length > 3) throw wrongSubcommand('FUNCTION', 'flush');
  if (args.length === 3 && !/^A?SYNC$/.test(args.option(2))) throw FLUSH_MODES;
  flushLibraries(context);
  return OK;
};

export function flushLibraries({ libraries, effects }: CommandContext): void {
  if (libraries.size === 0) return;
  libraries.clear();
  effects.push('FUNCTION', 'FLUSH');
}

/** FUNCTION LIST [LIBRARYNAME pattern] [WITHCODE] → a map for each library. */
export const list: Handler = (context) => {
  const { args, libraries } = context;
  let matches: Glob | undefined;
  let withCode = false;
  for (let i = 2; i < args.length; i += 1) {
    const option = args.option(i);
    if (option === 'WITHCODE' && !withCode) withCode = true;
    else if (option === 'LIBRARYNAME' && matches === undefined) {
      i += 1;
      if (i >= args.length) throw new ErrorReply('ERR library name argument was not given');
      matches = compileGlob(args.bytes(i));
    } else throw new ErrorReply(`ERR Unknown argument ${args.bytes(i)}`);
  }
  const host = functionHost(libraries);
  const found: Reply[] = [];
  for (const [name, source] of libraries.entries()) {
    if (matches !== undefined && !matches(name)) continue;
    const functions = host.functionsOf(context, name).map(described);
    const items: Reply[] = ['library_name', name, 'engine', 'LUA', 'functions', functions];
    if (withCode) items.push('library_code', source);
    found.push(new MapReply(items));
  }
  return found;
};

function described({ name, description, flags }: RegisteredFunction): Reply {
  const shown = new SetReply([...flags].map((flag) => new SimpleString(flag)));
  return new MapReply(['name', name, 'description', description, 'flags', shown]);
}

/** FUNCTION STATS → the running script (always null) and the counts. */
export const stats: Handler = (context) => {
  const { libraries } = context;
  const counts = ['libraries_count', libraries.size, 'functions_count', functionHost(libraries).count(context)];
  return new MapReply(['running_script', null, 'engines', new MapReply(['LUA', new MapReply(counts)])]);
};
