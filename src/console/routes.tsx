/** All pages: address, name in the frame, and the file that is loaded when the page is opened. */
import lazy from 'preact-iso/lazy';
import { isOperator, mayUseData } from './api/session.js';
import type { IconName } from './parts/icon.js';

export interface Page {
  readonly href: string;
  readonly label: string;
  readonly icon: IconName;
  isShown(): boolean;
}

const always = () => true;
const withData = () => mayUseData.value;

/** The pages in the frame. */
export const PAGES: readonly Page[] = [
  { href: '/console/', label: 'Overview', icon: 'overview', isShown: always },
  { href: '/console/databases', label: 'Databases', icon: 'databases', isShown: always },
  { href: '/console/queue', label: 'Queue', icon: 'queue', isShown: withData },
  { href: '/console/dead-letters', label: 'Dead letters', icon: 'letters', isShown: withData },
  { href: '/console/workflows', label: 'Workflows', icon: 'workflows', isShown: withData },
  { href: '/console/search', label: 'Search', icon: 'search', isShown: always },
  { href: '/console/vectors', label: 'Vectors', icon: 'vectors', isShown: always },
  { href: '/console/past', label: 'Time machine', icon: 'past', isShown: always },
  { href: '/console/alerts', label: 'Alerts', icon: 'bell', isShown: always },
  { href: '/console/cluster', label: 'Cluster', icon: 'cluster', isShown: () => isOperator.value },
  { href: '/console/team', label: 'Team and keys', icon: 'team', isShown: always },
];

/** The component for each address; `:id` is passed to the page. */
export const ROUTES = [
  { path: '/console/', component: lazy(() => import('./pages/overview/overview.js')) },
  { path: '/console/databases', component: lazy(() => import('./pages/databases/databases.js')) },
  { path: '/console/databases/:id', component: lazy(() => import('./pages/databases/database.js')) },
  { path: '/console/queue', component: lazy(() => import('./pages/queue/queue.js')) },
  { path: '/console/messages/:id', component: lazy(() => import('./pages/queue/message.js')) },
  { path: '/console/dead-letters', component: lazy(() => import('./pages/dead-letters/dead-letters.js')) },
  { path: '/console/workflows', component: lazy(() => import('./pages/workflows/workflows.js')) },
  { path: '/console/workflows/:id', component: lazy(() => import('./pages/workflows/run.js')) },
  { path: '/console/search', component: lazy(() => import('./pages/search/indexes.js')) },
  { path: '/console/search/:id', component: lazy(() => import('./pages/search/search-index.js')) },
  { path: '/console/vectors', component: lazy(() => import('./pages/vectors/indexes.js')) },
  { path: '/console/vectors/:id', component: lazy(() => import('./pages/vectors/vector-index.js')) },
  { path: '/console/past', component: lazy(() => import('./pages/past/past.js')) },
  { path: '/console/alerts', component: lazy(() => import('./pages/alerts/alerts.js')) },
  { path: '/console/cluster', component: lazy(() => import('./pages/cluster/cluster.js')) },
  { path: '/console/team', component: lazy(() => import('./pages/team/team.js')) },
] as const;
