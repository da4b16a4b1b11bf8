/** The management face of this process, with search, operators and monitoring on the same port. */
import type { DependencyContainer } from 'tsyringe';
import { DATABASE_SHARE } from '../actors/kv-shard/index.js';
import { VERSION } from '../adapters/node/index.js';
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
import type { JournalAudit } from '../ports/index.js';
import { pricesOf } from './prices.js';
import * as tokens from './tokens.js';

export interface ManagementFaceOptions {
  readonly audit: JournalAudit;
  /** Clients reach the faces under these. */
  readonly publicUrls: PublicUrls;
  /** 0: it is off. */
  readonly respPort: number;
  readonly guard: SignInGuard;
  readonly face: Pick<Parameters<typeof createManagementServer>[0], 'limits' | 'aliases' | 'budget' | 'freshness'> & {
    readonly tls?: TlsTexts;
  };
}

export function managementFace(c: DependencyContainer, options: ManagementFaceOptions): FaceServer {
  const { publicUrls, respPort, guard, face } = options;
  const config = c.resolve(tokens.CONFIG);
  const control = c.resolve(tokens.CONTROL);
  const prices = pricesOf(config);
  return createManagementServer({
    ...sharedParts(c),
    control: control.client,
    access: control.management,
    sealing: () => c.resolve(tokens.SEALING),
    backups: c.resolve(tokens.BACKUPS),
    removal: c.resolve(tokens.REMOVAL),
    pendingDocuments: pendingDocuments(c.resolve(tokens.GATEWAY), c.resolve(tokens.SEARCH)),
    pricesOf: () => prices,
    signIns: guard.of('management'),
    publicUrls,
    respPort,
    maxScriptMs: config.bounds.scriptMs,
    maxHeldBytes: Math.floor(c.resolve(tokens.MEMORY).dataBytes * DATABASE_SHARE),
    version: VERSION,
    areas: AREAS,
    mount: { search: searchHandler(c, options), others: [adminHandler(c, options), scrapeHandler(c, options)] },
    ...face,
  });
}

function sharedParts(c: DependencyContainer) {
  return {
    ...tokens.portsOf(c),
    statistics: c.resolve(tokens.STATISTICS),
    log: c.resolve(tokens.FACE_LOG),
    trustedProxies: c.resolve(tokens.CONFIG).faces.trustedProxies,
    isDraining: () => c.resolve(tokens.LIFETIME).isEnding,
  };
}

function searchHandler(c: DependencyContainer, { guard, face }: ManagementFaceOptions) {
  const control = c.resolve(tokens.CONTROL);
  return createSearchHandler({
    ...sharedParts(c),
    access: control.search,
    gateway: c.resolve(tokens.GATEWAY),
    queries: c.resolve(tokens.SEARCH),
    quota: control.dailyQuota,
    usage: control,
    meter: control.meter,
    signIns: guard.of('search'),
    budget: face.budget,
  });
}

function adminHandler(c: DependencyContainer, { audit, guard, face }: ManagementFaceOptions) {
  const control = c.resolve(tokens.CONTROL);
  const { publicUrlMgmt } = c.resolve(tokens.CONFIG).faces;
  return createAdminHandler({
    ...sharedParts(c),
    access: control.management,
    control: control.client,
    sealing: () => c.resolve(tokens.SEALING),
    audit,
    cluster: c.resolve(tokens.CLUSTER_LOOK),
    messageLog: c.resolve(tokens.READ_MODELS),
    readModels: tokens.ifRegistered(c, tokens.READ_MODEL_CARE),
    signIns: guard.of('admin'),
    // What is in front of this process may speak TLS for it.
    isSecure: face.tls !== undefined || publicUrlMgmt?.startsWith('https:') === true,
    isOperator: ({ account }) => control.firstAccount() === account,
  });
}

function scrapeHandler(c: DependencyContainer, { guard }: ManagementFaceOptions) {
  const access = new ScrapeGrants(c.resolve(tokens.CONTROL).view);
  return createScrapeHandler({ ...sharedParts(c), access, signIns: guard.of('monitoring') });
}
