/** The management face of this process, with the data plane of search indexes on the same port. */
import type { DependencyContainer } from 'tsyringe';
import { DATABASE_SHARE } from '../actors/kv-shard/index.js';
import type { FaceServer, TlsTexts } from '../edge/http/index.js';
import {
  createAdminHandler,
  createManagementServer,
  createSearchHandler,
  type PublicUrls,
  pendingDocuments,
  type SignInGuard,
} from '../edge/index.js';
import { createScrapeHandler, ScrapeGrants } from '../edge/monitoring/index.js';
import { AREAS } from '../edge/openapi/index.js';
import type { JournalAudit, ReadModelCare } from '../ports/index.js';
import { pricesOf } from './prices.js';
import * as tokens from './tokens.js';
import { VERSION } from './version.js';

export interface ManagementEdgeOptions {
  readonly audit: JournalAudit;
  /** As clients reach the faces, where no setting says so. */
  readonly addresses: PublicUrls;
  /** 0: it is off. */
  readonly respPort: number;
  readonly guard: SignInGuard;
  readonly face: Pick<Parameters<typeof createManagementServer>[0], 'limits' | 'aliases' | 'budget' | 'freshness'> & {
    readonly tls?: TlsTexts;
  };
}

type IsDraining = () => boolean;

export function managementFace(c: DependencyContainer, options: ManagementEdgeOptions): FaceServer {
  const { addresses, respPort, guard, face } = options;
  const config = c.resolve(tokens.CONFIG);
  const { faces, bounds } = config;
  const control = c.resolve(tokens.CONTROL);
  let isClosing = false;
  const isDraining = () => isClosing;
  const prices = pricesOf(config);
  const server = createManagementServer({
    ...sharedParts(c),
    control: control.client,
    access: control.management,
    sealing: () => c.resolve(tokens.SEALING),
    backups: c.resolve(tokens.BACKUPS),
    removal: c.resolve(tokens.REMOVAL),
    pendingDocuments: pendingDocuments(c.resolve(tokens.GATEWAY), c.resolve(tokens.SEARCH)),
    pricesOf: () => prices,
    signIns: guard.of('management'),
    publicUrls: {
      kv: faces.publicUrlKv ?? addresses.kv,
      queue: faces.publicUrlQueue ?? addresses.queue,
      get search() {
        return faces.publicUrlMgmt ?? addresses.search;
      },
    },
    respPort,
    maxScriptMs: bounds.scriptMs,
    maxHeldBytes: Math.floor(c.resolve(tokens.MEMORY).dataBytes * DATABASE_SHARE),
    version: VERSION,
    areas: AREAS,
    mount: {
      search: searchHandler(c, options, isDraining),
      others: [adminHandler(c, options, isDraining), scrapeHandler(c, options, isDraining)],
    },
    ...face,
  });
  return {
    listen: (port, host) => server.listen(port, host),
    close: (signal) => {
      isClosing = true;
      return server.close(signal);
    },
  };
}

function sharedParts(c: DependencyContainer) {
  return {
    statistics: c.resolve(tokens.STATISTICS),
    clock: c.resolve(tokens.CLOCK),
    timers: c.resolve(tokens.TIMERS),
    random: c.resolve(tokens.RANDOM),
    log: c.resolve(tokens.FACE_LOG),
    trustedProxies: c.resolve(tokens.CONFIG).faces.trustedProxies,
  };
}

function searchHandler(c: DependencyContainer, { guard, face }: ManagementEdgeOptions, isDraining: IsDraining) {
  const { search: access, dailyQuota: quota, searchMonth: usage, meter } = c.resolve(tokens.CONTROL);
  const { clock, timers, log, trustedProxies } = sharedParts(c);
  return createSearchHandler({
    access,
    gateway: c.resolve(tokens.GATEWAY),
    queries: c.resolve(tokens.SEARCH),
    quota,
    usage,
    meter,
    clock,
    timers,
    log,
    signIns: guard.of('search'),
    trustedProxies,
    budget: face.budget,
    isDraining,
  });
}

function adminHandler(c: DependencyContainer, { audit, guard, face }: ManagementEdgeOptions, isDraining: IsDraining) {
  const control = c.resolve(tokens.CONTROL);
  const { publicUrlMgmt } = c.resolve(tokens.CONFIG).faces;
  return createAdminHandler({
    ...sharedParts(c),
    access: control.management,
    control: control.client,
    sealing: () => c.resolve(tokens.SEALING),
    audit,
    messageLog: c.resolve(tokens.READ_MODELS),
    readModels: readModelCare(c),
    signIns: guard.of('admin'),
    // What is in front of this process may speak TLS for it.
    isSecure: face.tls !== undefined || publicUrlMgmt?.startsWith('https:') === true,
    isDraining,
    isOperator: ({ account }) => control.firstAccount() === account,
  });
}

function scrapeHandler(c: DependencyContainer, { guard }: ManagementEdgeOptions, isDraining: IsDraining) {
  const { statistics, clock, log, trustedProxies } = sharedParts(c);
  const access = new ScrapeGrants(c.resolve(tokens.CONTROL).view);
  return createScrapeHandler({
    access,
    statistics,
    clock,
    log,
    signIns: guard.of('monitoring'),
    trustedProxies,
    isDraining,
  });
}

/** Undefined in a process that keeps no read models. */
function readModelCare(c: DependencyContainer): ReadModelCare | undefined {
  const models = tokens.ifRegistered(c, tokens.PROJECTION_ROLE);
  const searches = tokens.ifRegistered(c, tokens.SEARCH_ROLE);
  if (models === undefined || searches === undefined) return undefined;
  return { rebuild: (model) => (model === 'search' ? searches.rebuild() : models.rebuild(model)) };
}
