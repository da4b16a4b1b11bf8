/**
 * MODULE: modules cannot be loaded, because they would be foreign code in the server. MODULE LIST, HELLO and INFO name
 * the Redis modules with built-in commands, because clients and dashboards use these names to decide which commands are
 * available.
 */
import { NO_KEYS } from '../../command-description.js';
import { ErrorReply, MapReply, notAvailable, type Reply } from '../../reply.js';
import { helpRow, type Row, row, UNORDERED } from '../rows.js';

interface ServedModule {
  readonly name: string;
  /** The version in the module's own form (80200 is 8.2.0). */
  readonly version: number;
}

/** RedisJSON: the family `json`. */
const SERVED_MODULES: readonly ServedModule[] = [{ name: 'ReJSON', version: 80200 }];

/** An entry for each module, in the form of MODULE LIST and HELLO. */
export function servedModules(): Reply[] {
  return SERVED_MODULES.map(
    ({ name, version }) => new MapReply(['name', name, 'ver', version, 'path', '', 'args', []]),
  );
}

const NO_LOADING = 'it could harm the server and its other databases';
const refusal = (name: string) =>
  new ErrorReply(
    `ERR ${name} is not available: modules are code within the server, which could harm it and its other databases`,
    notAvailable(name).text,
  );

const ADMIN = {
  flags: ['admin', 'dangerous', 'noscript', 'edge'],
  keys: NO_KEYS,
  rest: 'refused',
  readOnlyToken: false,
} as const;

function refused(name: string, arity: number, since: string): Row {
  return row(name, arity, since, `Refused: ${NO_LOADING}.`, {
    ...ADMIN,
    handler: () => refusal(name),
    deviations: [`Refused: ${NO_LOADING}.`],
  });
}

/** MODULE LIST → [name, version, path, arguments] of each, as a map. */
export const MODULES: readonly Row[] = [
  row('MODULE LIST', 2, '4.0.0', 'Lists the modules whose commands are served.', {
    ...ADMIN,
    tips: UNORDERED,
    handler: servedModules,
    deviations: ['Names the modules of Redis whose commands are built in; `path` is empty.'],
  }),
  refused('MODULE LOAD', -3, '4.0.0'),
  refused('MODULE LOADEX', -3, '7.0.0'),
  refused('MODULE UNLOAD', 3, '4.0.0'),
  helpRow(
    'MODULE',
    '5.0.0',
    [
      'LIST',
      '    Return a list of loaded modules.',
      'LOAD <path> [<arg> ...]',
      '    Not available here.',
      'LOADEX <path> [[CONFIG NAME VALUE] [CONFIG NAME VALUE]] [ARGS ...]',
      '    Not available here.',
      'UNLOAD <name>',
      '    Not available here.',
    ],
    { flags: ['edge', 'loading', 'stale'], rest: 'refused' },
  ),
];

/** The lines of the Modules section of INFO. */
export function moduleFields(): [string, string][] {
  return SERVED_MODULES.map(({ name, version }) => [
    'module',
    `name=${name},ver=${version},api=1,filters=0,usedby=[],using=[],options=[]`,
  ]);
}
