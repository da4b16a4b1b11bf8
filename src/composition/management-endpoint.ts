/** The management endpoint of this process, with search, operators' API and monitoring on the same port. */
import type { Middleware } from 'koa';
import type { DependencyContainer } from 'tsyringe';
import { SteeredCluster } from '../actors/cluster/index.js';
import { DatabaseBranches } from '../actors/control/index.js';
import { DATABASE_SHARE, MAX_REPLACEMENT_BYTES } from '../actors/kv-shard/index.js';
import { ProvidedEmbeddings } from '../adapters/embeddings/index.js';
import { readConsoleFile, readDocsFile, VERSION } from '../adapters/node/index.js';
import type { EndpointServer, TlsTexts } from '../edge/http/index.js';
import {
  changesDocuments,
  createAdminHandler,
  createConsoleHandler,
  createManagementServer,
  createMcpHandlers,
  createSearchHandler,
  leadsBrowsers,
  type PublicUrls,
  pendingDocuments,
  type SignInGuard,
} from '../edge/index.js';
import { createScrapeHandler, ScrapeGrants } from '../edge/monitoring/index.js';
import { AREAS, createDocsHandler } from '../edge/openapi/index.js';
import type { BranchRequest } from '../journal/index.js';
import type { DatabaseId } from '../kernel/index.js';
import type { JournalAudit, KvEvents, ManagementGrant } from '../ports/index.js';
import { pricesOf } from './prices.js';
import * as tokens from './tokens.js';

export interface ManagementEndpointOptions {
  readonly audit: JournalAudit;
  readonly events: KvEvents;
  /** The endpoints' addresses for clients. */
  readonly publicUrls: PublicUrls;
  /** 0: disabled. */
  readonly respPort: number;
  readonly guard: SignInGuard;
  /** Other endpoints of this process, through which the console's pages reach data. */
  readonly planes: Pick<Parameters<typeof createConsoleHandler>[0]['planes'], 'kv' | 'queue'>;
  readonly endpoint: Pick<
    Parameters<typeof createManagementServer>[0],
    'limits' | 'aliases' | 'budget' | 'freshness'
  > & {
    readonly tls?: TlsTexts;
  };
}

export function managementEndpoint(c: DependencyContainer, options: ManagementEndpointOptions): EndpointServer {
  const { respPort, guard, endpoint } = options;
  const config = c.resolve(tokens.CONFIG);
  const [prices, search] = [pricesOf(config), searchHandler(c, options)];
  const docs = createDocsHandler({ ...sharedParts(c), readFile: readDocsFile });
  return createManagementServer({
    ...sharedParts(c),
    ...sessionParts(c, options),
    backups: c.resolve(tokens.BACKUPS),
    branches: branchesOf(c, options),
    removal: c.resolve(tokens.REMOVAL),
    alerts: c.resolve(tokens.ALERT_NOTICES),
    usage: c.resolve(tokens.USAGE_REPORTS),
    auditExports: c.resolve(tokens.AUDIT_EXPORTER),
    pendingDocuments: pendingDocuments(c.resolve(tokens.GATEWAY), c.resolve(tokens.SEARCH)),
    pricesOf: () => prices,
    signIns: guard.of('management'),
    respPort,
    readOnlyKeysSeeSecrets: config.signIn.readOnlyKeysSeeSecrets,
    maxScriptMs: config.bounds.scriptMs,
    maxHeldBytes: Math.floor(c.resolve(tokens.MEMORY).dataBytes * DATABASE_SHARE),
    hasEmbeddings: config.embeddings.embeddingsUrl !== undefined,
    version: VERSION,
    areas: AREAS,
    mount: [
      leadsBrowsers,
      search,
      adminHandler(c, options),
      consoleHandler(c, options, search),
      scrapeHandler(c, options),
      docs,
      ...mcpHandlers(c, options),
    ],
    ...endpoint,
  });
}

function branchesOf(c: DependencyContainer, { audit }: ManagementEndpointOptions): DatabaseBranches {
  const { view } = c.resolve(tokens.CONTROL);
  const ports = {
    ...tokens.storagePortsOf(c),
    gateway: c.resolve(tokens.GATEWAY),
    audit,
    refer: (request: BranchRequest) => c.resolve(tokens.BRANCH_JOBS).run(request),
    userOfToken: (database: DatabaseId, token: string) => {
      const grant = view.grantFor(token);
      return grant?.database === database ? grant.user : undefined;
    },
  };
  const { kvShards } = c.resolve(tokens.NATS).layout;
  return new DatabaseBranches(ports, { kvShards, maxPartitionBytes: MAX_REPLACEMENT_BYTES });
}

function sharedParts(c: DependencyContainer) {
  return {
    ...tokens.portsOf(c),
    statistics: c.resolve(tokens.STATISTICS),
    log: c.resolve(tokens.ENDPOINT_LOG),
    trustedProxies: c.resolve(tokens.CONFIG).endpoints.trustedProxies,
    isDraining: () => c.resolve(tokens.LIFETIME).isEnding,
  };
}

function searchHandler(c: DependencyContainer, { guard, endpoint }: ManagementEndpointOptions) {
  const control = c.resolve(tokens.CONTROL);
  return createSearchHandler({
    ...sharedParts(c),
    access: control.search,
    gateway: c.resolve(tokens.GATEWAY),
    queries: c.resolve(tokens.SEARCH),
    embeddings: embeddingsOf(c),
    quota: control.dailyQuota,
    usage: control,
    meter: control.meter,
    signIns: guard.of('search'),
    budget: endpoint.budget,
  });
}

function embeddingsOf(c: DependencyContainer): ProvidedEmbeddings | undefined {
  const { embeddingsUrl: url, embeddingsKey, embeddingsModel: model } = c.resolve(tokens.CONFIG).embeddings;
  if (url === undefined) return undefined;
  return new ProvidedEmbeddings({ url, key: embeddingsKey?.reveal(), model }, tokens.portsOf(c));
}

/** Shared by all handlers that accept console sessions. */
function sessionParts(c: DependencyContainer, { publicUrls, endpoint }: ManagementEndpointOptions) {
  const control = c.resolve(tokens.CONTROL);
  const { endpoints, signIn } = c.resolve(tokens.CONFIG);
  return {
    access: control.management,
    control: control.client,
    sealing: () => c.resolve(tokens.SEALING),
    sessionMs: signIn.consoleSessionMs,
    publicUrls,
    // A proxy in front of this process may handle TLS.
    isSecure: endpoint.tls !== undefined || endpoints.publicUrlMgmt?.startsWith('https:') === true,
    isOperator: (grant: ManagementGrant) => control.management.isOperator(grant),
  };
}

function adminHandler(c: DependencyContainer, options: ManagementEndpointOptions) {
  return createAdminHandler({
    ...sharedParts(c),
    ...sessionParts(c, options),
    audit: options.audit,
    events: options.events,
    clientsOf: (database) => tokens.ifRegistered(c, tokens.NATIVE_ENDPOINT)?.clientsOf(database) ?? [],
    gateway: c.resolve(tokens.GATEWAY),
    storage: c.resolve(tokens.STORAGE),
    copy: tokens.ifRegistered(c, tokens.INSTALLATION_COPY),
    backups: c.resolve(tokens.BACKUPS),
    cluster: c.resolve(tokens.CLUSTER_LOOK),
    steering: new SteeredCluster(tokens.portsOf(c), c.resolve(tokens.CLUSTER_LOOK)),
    messageLog: c.resolve(tokens.READ_MODELS),
    readModels: tokens.ifRegistered(c, tokens.READ_MODEL_CARE),
    signIns: options.guard.of('admin'),
  });
}

function consoleHandler(c: DependencyContainer, options: ManagementEndpointOptions, search: Middleware) {
  const { planes, guard, endpoint } = options;
  return createConsoleHandler({
    ...sharedParts(c),
    ...sessionParts(c, options),
    planes: { ...planes, search },
    providers: tokens.ifRegistered(c, tokens.IDENTITY_PROVIDERS),
    changesDocuments,
    readFile: readConsoleFile,
    signIns: guard.of('console'),
    budget: endpoint.budget,
  });
}

function mcpHandlers(c: DependencyContainer, options: ManagementEndpointOptions): readonly Middleware[] {
  const { mcp } = c.resolve(tokens.CONFIG).endpoints;
  if (mcp === 'off') return [];
  return createMcpHandlers({
    ...sharedParts(c),
    ...sessionParts(c, options),
    providers: tokens.ifRegistered(c, tokens.IDENTITY_PROVIDERS),
    mayChange: mcp === 'change',
    signIns: options.guard.of('mcp'),
    budget: options.endpoint.budget,
    version: VERSION,
  });
}

function scrapeHandler(c: DependencyContainer, { guard }: ManagementEndpointOptions) {
  const access = new ScrapeGrants(c.resolve(tokens.CONTROL).view);
  return createScrapeHandler({ ...sharedParts(c), access, signIns: guard.of('monitoring') });
}
