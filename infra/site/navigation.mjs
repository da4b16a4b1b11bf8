/**
 * The sections of the documentation's site and their pages, in order: the navigation, the home page, and the links to
 * the previous and the next page follow from this list. A page is named by its path below `docs`, without `.md`.
 */

/** Pages whose source has another place or name. */
export const RENAMED = {
  'README.md': 'about',
  'CHANGELOG.md': 'changelog',
  'CONTRIBUTING.md': 'contributing',
  'SECURITY.md': 'security',
  'docs/README.md': 'all-pages',
};

const below = (folder, names) => names.map((name) => `${folder}/${name}`);

export const NAVIGATION = [
  {
    name: 'Start',
    about: 'From nothing to a first key, a first delivery and a first run.',
    groups: [
      { pages: ['about', 'guide/first-hour'] },
      {
        name: 'Quickstarts',
        pages: below('guide', ['quickstart-express', 'quickstart-hono', 'quickstart-nextjs', 'quickstart-python', 'quickstart-go']),
      },
    ],
  },
  {
    name: 'Concepts',
    about: 'How each part works, with one picture each.',
    groups: [{ pages: [...below('concepts', ['databases', 'messages', 'workflows', 'search', 'journal']), 'glossary'] }],
  },
  {
    name: 'Tutorials',
    about: 'From an empty folder to a working program.',
    groups: [{ pages: ['tutorials/shop'] }],
  },
  {
    name: 'Recipes',
    about: 'Short answers to common tasks.',
    groups: [
      { pages: [...below('recipes', ['job-queue', 'cron-nextjs', 'webhook-intake', 'rate-limit', 'cache']), 'guide/moving'] },
    ],
  },
  {
    name: 'Reference',
    about: 'Every command, option, call and limit.',
    groups: [
      {
        name: 'Databases',
        pages: [
          'guide/connecting',
          'guide/cluster-clients',
          'commands',
          'deviations',
          ...below('guide', ['messages', 'waiting', 'access-control', 'scripts', 'outbox', 'triggers', 'webhooks', 'branches', 'indexes', 'data']),
        ],
      },
      {
        name: 'Messages',
        pages: below('guide', [
          'publishing',
          'message-settings',
          'retry-delay',
          'groups-and-queues',
          'schedules',
          'flow-control',
          'receiving',
          'outcomes',
          'destinations',
        ]),
      },
      { name: 'Workflows', pages: below('guide', ['workflows', 'workflow-changes', 'workflow-protocol']) },
      { name: 'Search', pages: below('guide', ['search', 'search-filters', 'vectors']) },
      { name: 'Management', pages: below('guide', ['management', 'plans-and-limits']) },
      {
        name: 'HTTP API',
        pages: below('api', ['kv', 'queue', 'search', 'vector', 'management', 'operators', 'monitoring', 'health']),
      },
      { name: 'Clients', pages: ['wire-aliases', 'guide/mcp'] },
    ],
  },
  {
    name: 'Operations',
    about: 'Installing, watching, backing up, upgrading.',
    groups: [
      {
        name: 'Setting up',
        pages: [
          ...below('operations', ['installing', 'command-line', 'console']),
          'settings',
          'operations/limits',
          'limits',
          ...below('operations', ['databases', 'accounts', 'sign-in', 'roles']),
          'rights',
        ],
      },
      {
        name: 'Watching',
        pages: below('operations', ['alerts', 'metrics', 'alarms', 'traces', 'statistics', 'usage', 'redis-operations', 'admin-api']),
      },
      {
        name: 'Data',
        pages: below('operations', ['backups', 'backups-elsewhere', 'encryption', 'audit', 'audit-export', 'read-models', 'disk']),
      },
      {
        name: 'Machines',
        pages: [
          ...below('operations', ['cores', 'cluster', 'clocks', 'nats-server', 'nats-rights', 'upgrades', 'versions']),
          'failures',
          'performance',
        ],
      },
      { name: 'Releases', pages: ['changelog', 'security'] },
    ],
  },
  {
    name: 'Internals',
    about: 'The code, its promises, and the reasons for its decisions.',
    groups: [
      { pages: ['all-pages', 'architecture', 'promises', 'protocol', 'http-grammar', 'contributing', 'testing'] },
      {
        name: 'Decisions',
        pages: below('decisions', [
          'journal',
          'ownership',
          'reads-and-clocks',
          'cluster',
          'backups',
          'encryption',
          'key-value-engine',
          'scripts',
          'waiting',
          'access-control',
          'import',
          'queue',
          'delivery',
          'workflows',
          'read-models',
          'statistics',
          'search',
          'http',
          'resp',
          'management',
          'console',
          'traces',
          'packaging',
          'dependencies',
          'memory',
          'bounds',
        ]),
      },
    ],
  },
];

/** All pages in the order of reading. */
export const PAGES = NAVIGATION.flatMap(({ name, groups }) =>
  groups.flatMap(({ pages }) => pages.map((path) => ({ path, section: name }))),
);

/** The page of a source file, by its path from the root of the repository. */
export function pageOf(source) {
  return RENAMED[source] ?? source.replace(/^docs\//, '').replace(/\.md$/, '');
}
