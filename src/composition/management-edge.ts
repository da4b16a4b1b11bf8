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
import type {
  Backups,
  DataRemoval,
  JournalAudit,
  KvGateway,
  MessageLog,
  ReadModelCare,
  SearchQueries,
  Statistics,
} from '../ports/index.js';
import type { ControlRole } from './control-role.js';
import { pricesOf } from './prices.js';
import * as tokens from './tokens.js';
import { VERSION } from './version.js';

export interface ManagementEdgeOptions {
  readonly control: ControlRole;
  readonly gateway: KvGateway;
  readonly backups: Backups;
  readonly removal: DataRemoval;
  readonly queries: SearchQueries;
  readonly statistics: Statistics;
  readonly messageLog: MessageLog;
  readonly audit: JournalAudit;
  /** Undefined in a process that keeps no read models. */
  readonly care: ReadModelCare | undefined;
  /** As clients reach the faces, where no setting says so. */
  readonly addresses: PublicUrls;
  /** 0: it is off. */
  readonly respPort: number;
  readonly guard: SignInGuard;
  readonly face: Pick<Parameters<typeof createManagementServer>[0], 'limits' | 'aliases' | 'budget' | 'freshness'> & {
    readonly tls?: TlsTexts;
  };
}

export function managementFace(c: DependencyContainer, options: ManagementEdgeOptions): FaceServer {
  const {
    control,
    gateway,
    backups,
    removal,
    queries,
    statistics,
    messageLog,
    audit,
    care,
    addresses,
    respPort,
    guard,
    face,
  } = options;
  const config = c.resolve(tokens.CONFIG);
  const clock = c.resolve(tokens.CLOCK);
  const log = c.resolve(tokens.FACE_LOG);
  const { publicUrlKv, publicUrlQueue, publicUrlMgmt } = config.faces;
  const { trustedProxies } = config.faces;
  let isDraining = false;
  const search = createSearchHandler({
    access: control.search,
    gateway,
    queries,
    quota: control.dailyQuota,
    usage: control.searchMonth,
    meter: control.meter,
    clock,
    timers: c.resolve(tokens.TIMERS),
    log,
    signIns: guard.of('search'),
    trustedProxies,
    budget: face.budget,
    isDraining: () => isDraining,
  });
  const admin = createAdminHandler({
    access: control.management,
    control: control.client,
    sealing: control.sealing,
    audit,
    messageLog,
    statistics,
    readModels: care,
    clock,
    random: c.resolve(tokens.RANDOM),
    timers: c.resolve(tokens.TIMERS),
    log,
    signIns: guard.of('admin'),
    trustedProxies,
    // What is in front of this process may speak TLS for it.
    isSecure: face.tls !== undefined || publicUrlMgmt?.startsWith('https:') === true,
    isDraining: () => isDraining,
    isOperator: ({ account }) => control.firstAccount() === account,
  });
  const scrape = createScrapeHandler({
    access: new ScrapeGrants(control.view),
    statistics,
    clock,
    log,
    signIns: guard.of('monitoring'),
    trustedProxies,
    isDraining: () => isDraining,
  });
  const prices = pricesOf(config);
  const server = createManagementServer({
    control: control.client,
    access: control.management,
    sealing: control.sealing,
    statistics,
    backups,
    removal,
    pendingDocuments: pendingDocuments(gateway, queries),
    pricesOf: () => prices,
    clock,
    timers: c.resolve(tokens.TIMERS),
    random: c.resolve(tokens.RANDOM),
    log,
    signIns: guard.of('management'),
    trustedProxies,
    publicUrls: {
      kv: publicUrlKv ?? addresses.kv,
      queue: publicUrlQueue ?? addresses.queue,
      get search() {
        return publicUrlMgmt ?? addresses.search;
      },
    },
    respPort,
    maxScriptMs: config.bounds.scriptMs,
    maxHeldBytes: Math.floor(c.resolve(tokens.MEMORY).dataBytes * DATABASE_SHARE),
    version: VERSION,
    areas: AREAS,
    mount: { search, others: [admin, scrape] },
    ...face,
  });
  return {
    listen: (port, host) => server.listen(port, host),
    close: (signal) => {
      isDraining = true;
      return server.close(signal);
    },
  };
}
