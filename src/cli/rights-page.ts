/** The generated page with the matrices of rights: roles with their rights, and routes with the right of each. */
import { BUILT_IN_ROLES, RIGHTS } from '../domain/control/index.js';
import { ADMIN_ROUTES, MANAGEMENT_ROUTES, PLANE_ROUTES } from '../edge/index.js';

const GENERATED = '<!-- Generated from the declarations of routes by src/cli/rights-page.ts. -->';
const ROLES = Object.entries<readonly string[]>(BUILT_IN_ROLES);

interface RouteView {
  readonly methods: readonly string[];
  readonly paths: readonly string[];
  readonly permission: string;
  readonly answersSome?: true;
}

export function rightsPage(): string {
  return [
    '# Rights, roles and routes',
    '',
    GENERATED,
    '',
    '[Roles](operations/roles.md) describes how they are given. A test calls each route with each role.',
    '',
    '## Roles and their rights',
    '',
    `| right | ${ROLES.map(([role]) => `\`${role}\``).join(' | ')} | allows to |`,
    `| --- |${' --- |'.repeat(ROLES.length + 1)}`,
    ...Object.entries(RIGHTS).map(([right, about]) => {
      const cells = ROLES.map(([, rights]) => (rights.includes(right) ? 'yes' : ''));
      return `| \`${right}\` | ${cells.join(' | ')} | ${about} |`;
    }),
    '',
    'Every person also has `self:read` and `self:change`: their own keys, sessions and teams. A key with a role has only the first.',
    '',
    ...routesOf('## Management API', MANAGEMENT_ROUTES),
    ...routesOf("## Operators' API", ADMIN_ROUTES),
    ...routesOf('## Data in the console', PLANE_ROUTES),
    'A request of the console that changes data also needs the right `databases:change`, `queues:change` or `indexes:change`.',
    '',
  ].join('\n');
}

function routesOf(title: string, routes: readonly RouteView[]): string[] {
  return [
    title,
    '',
    '| route | right | of the resource in the path |',
    '| --- | --- | --- |',
    ...routes.map(({ methods, paths, permission, answersSome }) => {
      const [path = ''] = paths;
      const isOne = /^(databases|queues|indexes):/.test(permission) && path.includes(':id');
      const scope = answersSome === true ? 'of each that it shows' : isOne ? 'yes' : '';
      return `| \`${methods[0]?.toUpperCase()} ${path.replaceAll(/[:*](\w+)/g, '{$1}')}\` | \`${permission}\` | ${scope} |`;
    }),
    '',
  ];
}
