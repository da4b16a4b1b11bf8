/** Every route of the operators' API, by declaration. */
import type { AdminRoute } from '../admin-call.js';
import { LIVE_ROUTES } from './live.js';
import { PAST_ROUTES } from './past.js';
import { SESSION_ROUTES } from './sessions.js';

export const ADMIN_ROUTES: readonly AdminRoute[] = [...SESSION_ROUTES, ...PAST_ROUTES, ...LIVE_ROUTES];
