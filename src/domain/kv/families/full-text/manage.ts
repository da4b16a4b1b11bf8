/** SEARCH.DROP, DESCRIBE, WAITINDEXING, REINDEX and LISTINDEXES, and the commands about aliases. */
import { type ByteString, bytesOfText } from '../../../../kernel/index.js';
import { MAX_ALIASES } from '../../../full-text/index.js';
import type { Args } from '../../args.js';
import type { Handler, SlicedHandler } from '../../command-spec.js';
import { compileGlob, type Glob } from '../../glob.js';
import { ERRORS, ErrorReply, type Reply } from '../../reply.js';
import { ALIAS_EFFECT } from '../../search-aliases.js';
import { FullTextIndex, optionsOfField } from '../../types/full-text-index.js';
import { catchUp, requireBuilt, requireWhole } from './index-access.js';

/** SEARCH.DROP name → 1, or 0 without such an index; its keys stay. An alias is not followed. */
export const drop: Handler = (context) => {
  const { args, keyspace, effects } = context;
  const name = args.bytes(1);
  if (keyspace.fetchKind(name, FullTextIndex) === undefined) return 0;
  keyspace.delete(name);
  effects.push('DEL', name);
  context.notify('g', 'del', name);
  return 1;
};

/** SEARCH.DESCRIBE name → name, value, …; null without an index. */
export const describe: Handler = (context) => {
  const { args, searches } = context;
  if (context.isNested) requireWhole(context);
  const name = searches.nameOf(args.bytes(1));
  const live = searches.find(name);
  if (live === undefined) return null;
  const { source, prefixes, stream, language, fields } = live.definition;
  const covered: Reply[] = stream === undefined ? ['prefixes', prefixes] : ['prefixes', [], 'stream', stream];
  const schema = fields.map((field) => [bytesOfText(field.path), field.type, ...optionsOfField(field)]);
  const counts = ['indexSize', live.contents.size, 'pendingUpdates', live.pending];
  return ['name', name, 'type', source, ...covered, 'language', language, ...counts, 'schema', schema];
};

/**
 * SEARCH.WAITINDEXING name → 1 when all earlier changes are in the index; 0 without an index. The owner lets a client
 * wait before this runs (`index-waits.ts`). A transaction or script does not wait.
 */
export const waitIndexing: SlicedHandler = function* (context) {
  requireWhole(context);
  const name = context.args.bytes(1);
  const live = context.searches.find(name);
  if (live === undefined) return 0;
  yield* catchUp(context, live);
  requireBuilt(live, name);
  if (context.isNested && live.pending > 0)
    throw new ErrorReply('ERR a transaction or script cannot wait for an index');
  return 1;
};

/** SEARCH.REINDEX name → 1, or 0 without an index. Reads all keys again; the index answers until then. */
export const reindex: Handler = (context) => {
  requireWhole(context);
  const { args, searches } = context;
  const live = searches.find(args.bytes(1));
  live?.rebuild(false);
  return live === undefined ? 0 : 1;
};

export interface ListWords {
  readonly glob: Glob | undefined;
  readonly limit: number;
  readonly offset: number;
}

/** The options of SEARCH.LISTINDEXES. @throws ErrorReply */
export function listWordsOf(args: Args): ListWords {
  let glob: Glob | undefined;
  let [limit, offset] = [Number.POSITIVE_INFINITY, 0];
  for (let at = 1; at < args.length; at += 2) {
    const option = args.option(at);
    if (option === 'MATCH') glob = compileGlob(args.bytes(at + 1));
    else if (option === 'LIMIT') limit = args.count(at + 1, 0, ERRORS.notAnInteger);
    else if (option === 'OFFSET') offset = args.count(at + 1, 0, ERRORS.notAnInteger);
    else throw ERRORS.syntax;
  }
  return { glob, limit, offset };
}

/** SEARCH.LISTINDEXES [MATCH pattern] [LIMIT n] [OFFSET n] → [name, n, type, T], by name. */
export const listIndexes: Handler = ({ args, keyspace }) => {
  const { glob, limit, offset } = listWordsOf(args);
  const listed: Reply[] = [];
  for (const name of [...keyspace.derived.searches].sort()) {
    const value = keyspace.isThere(name) ? keyspace.stored(name) : undefined;
    if (!(value instanceof FullTextIndex) || glob?.(name) === false) continue;
    listed.push(['name', name, 'type', value.definition.source]);
  }
  return listed.slice(offset, offset + limit);
};

/** SEARCH.ALIASADD alias index → 1 for a new alias, 2 for a changed one. The index need not exist. */
export const addAlias: Handler = ({ args, searches, effects, isReplay }) => {
  const [alias, index] = [args.bytes(1), args.bytes(2)];
  const { aliases } = searches;
  const before = aliases.get(alias);
  if (before === undefined && aliases.size >= MAX_ALIASES && !isReplay) {
    throw new ErrorReply(`ERR A database has at most ${MAX_ALIASES} aliases`);
  }
  if (before !== index) {
    aliases.set(alias, index);
    effects.push(ALIAS_EFFECT, alias, index);
  }
  return before === undefined ? 1 : 2;
};

/** SEARCH.ALIASDEL alias → 1, or 0 without such an alias. */
export const deleteAlias: Handler = ({ args, searches, effects }) => {
  const alias: ByteString = args.bytes(1);
  if (!searches.aliases.delete(alias)) return 0;
  effects.push('SEARCH.ALIASDEL', alias);
  return 1;
};

/** SEARCH.LISTALIASES → [alias, index], by alias. */
export const listAliases: Handler = ({ searches }) =>
  [...searches.aliases.entries()].sort(([a], [b]) => (a < b ? -1 : 1));
