/**
 * `/mcp` on the management port: the Model Context Protocol over Streamable HTTP, and the metadata by which clients find
 * the authorization server (RFC 9728, RFC 8414).
 *
 * Order of checks: host and origin (403), method (405), credentials (401, 403, 429), calls at a time (429), body size
 * (413), then the protocol.
 *
 *  MCE1 pages of other sites cannot call: the host is this installation's name or an address, so that a name of another
 *       site that leads here is refused, and an origin has to be the same host
 *  MCE2 an account has at most MAX_CALLS calls at a time, and a request at most MAX_BODY_BYTES
 */
import { isIP } from 'node:net';
import type { Middleware } from 'koa';
import { ByteBudget } from '../../kernel/index.js';
import type { Log, Random, Sealing } from '../../ports/index.js';
import { MANAGEMENT_REFUSALS, managementRefusalOf, notFound } from '../error-map.js';
import { PRIVATE_HEADERS } from '../http/answer.js';
import { type AnswerShape, json } from '../http/answer-shape.js';
import { answer, type PipelineContext, readsBody } from '../http/application.js';
import { ClientAddresses, type ProxyRange, RequestBodyReader } from '../http/index.js';
import { record, TEXT } from '../http/openapi/parts.js';
import { RefusedRequest } from '../http/refused.js';
import { EndpointRequest } from '../http/request-body.js';
import { type Route, routesOf } from '../http/route.js';
import { routed } from '../http/routing.js';
import { subHandler } from '../http/sub-handler.js';
import { refuseOtherOrigins } from '../sessions/page-requests.js';
import { SealedSessions } from '../sessions/sealed-sessions.js';
import { type SignIns, UNGUARDED } from '../sign-in-guard.js';
import { InnerServer } from './inner-server.js';
import { CHANGE_SCOPE, McpAccess, type McpAccessParts, type McpCaller } from './mcp-access.js';
import type { McpServing } from './serving.js';

export interface McpParts extends Pick<McpAccessParts, 'access' | 'control' | 'clock' | 'providers' | 'mayChange'> {
  readonly log: Log;
  readonly random: Random;
  readonly sealing: () => Sealing;
  readonly sessionMs?: number | undefined;
  /** `search` is the address of the management port for clients. */
  readonly publicUrls: { readonly search: string };
  readonly trustedProxies?: readonly ProxyRange[] | undefined;
  readonly signIns?: SignIns | undefined;
  readonly budget?: ByteBudget | undefined;
  readonly version: string;
  readonly isDraining: () => boolean;
}

const ROOT = '/mcp';
const WELL_KNOWN = '/.well-known/oauth-';
const RESOURCE = `${WELL_KNOWN}protected-resource`;
const SERVER = `${WELL_KNOWN}authorization-server`;
/** The arguments of a tool, such as the body of a message. */
const MAX_BODY_BYTES = 1024 * 1024;
/** A program asks for a few tools at a time; more would take the share of others. */
const MAX_CALLS = 16;
const LOCAL_NAMES = new Set(['localhost', '127.0.0.1', '[::1]']);
/** Clients in browsers read the metadata; it holds no secret. */
const PUBLIC_HEADERS = { 'Access-Control-Allow-Origin': '*' } as const;
const PROTOCOL: AnswerShape = { kind: 'other', type: 'application/json', description: 'As the protocol has it.' };

interface McpState {
  caller?: McpCaller;
}
type Call = { readonly endpoint: McpEndpoint; readonly context: PipelineContext<McpState> };
type McpRoute = Route<Call, 'open'>;
const mcpRoute = routesOf<Call, 'open'>();

const ROUTES: readonly McpRoute[] = [
  mcpRoute(`POST ${ROOT}`, {
    summary: 'A message of the Model Context Protocol.',
    permission: 'open',
    answer: PROTOCOL,
    handle: ({ endpoint, context }) => endpoint.call(context),
  }),
  mcpRoute(`GET ${RESOURCE}${ROOT}`, {
    alsoPaths: [RESOURCE],
    summary: 'The protected resource, and the authorization servers that issue tokens for it.',
    permission: 'open',
    answer: json(record({ resource: TEXT })),
    handle: async ({ endpoint, context }) => show(context, endpoint.resourceMetadata()),
  }),
  mcpRoute(`GET ${SERVER}`, {
    alsoPaths: [`${SERVER}${ROOT}`],
    summary: 'The description of the first identity provider, for clients that look for it here.',
    permission: 'open',
    answer: json(record({ issuer: TEXT })),
    handle: async ({ endpoint, context }) => show(context, await endpoint.serverMetadata()),
  }),
];

/** @returns the middleware of both roots */
export function createMcpHandlers(parts: McpParts): readonly Middleware[] {
  const endpoint = new McpEndpoint(parts);
  const router = routed<McpRoute, McpState>(ROUTES, {}, async (context, route) => {
    await route.handle({ endpoint, context }, { path: {}, query: {}, body: {} });
  });
  const { log, isDraining } = parts;
  return [ROOT, WELL_KNOWN].map((root) =>
    subHandler<McpState>({
      name: 'mcp',
      root,
      log,
      isDraining,
      answer: (context, next) => {
        endpoint.refuseOtherHosts(context);
        return router(context, next);
      },
      wording: managementRefusalOf,
    }),
  );
}

class McpEndpoint {
  readonly #access: McpAccess;
  readonly #addresses: ClientAddresses;
  readonly #bodies: RequestBodyReader;
  readonly #callsOf = new Map<string, number>();
  #serving: Promise<McpServing> | undefined;

  constructor(private readonly parts: McpParts) {
    const { trustedProxies = [], signIns = UNGUARDED, budget } = parts;
    this.#addresses = new ClientAddresses(trustedProxies);
    this.#bodies = new RequestBodyReader(budget ?? new ByteBudget(Number.POSITIVE_INFINITY));
    const sessions = new SealedSessions(parts);
    const resource = () => `${this.#origin}${ROOT}`;
    const metadataUrl = () => (parts.providers === undefined ? undefined : `${this.#origin}${RESOURCE}${ROOT}`);
    this.#access = new McpAccess({ ...parts, sessions, signIns, resource, metadataUrl });
  }

  /** MCE1 (pages of other sites cannot call). @throws Refused 403 */
  refuseOtherHosts({ req: request, host }: PipelineContext<McpState>): void {
    const name = host.replace(/:\d+$/, '').toLowerCase();
    const isAddress = LOCAL_NAMES.has(name) || isIP(name.replace(/^\[|\]$/g, '')) !== 0;
    const isOurs = isAddress || name === new URL(this.#origin).hostname;
    if (!isOurs) throw new RefusedRequest({ status: 403, text: `this installation has another name than ${name}` });
    if (request.headers.origin === 'null') throw new RefusedRequest(MANAGEMENT_REFUSALS.otherSite);
    refuseOtherOrigins(request, this.#origin);
  }

  /** @throws Refused 401, 403, 413, 429; CONTROL_STALE, TIMED_OUT */
  async call(context: PipelineContext<McpState>): Promise<void> {
    const { req: request } = context;
    const read = readsBody<McpState>({
      bodies: this.#bodies,
      tenantOf: ({ state }) => state.caller?.grant.account ?? '',
      limitBytesOf: () => MAX_BODY_BYTES,
    });
    const found = this.#access.callerOf(request.headers.authorization, {
      address: this.#addresses.of(request),
      agent: context.get('user-agent'),
    });
    const answered = () => read(context, () => this.#bounded(context));
    if (!(found instanceof Promise)) {
      context.state.caller = found;
      await answered();
      return;
    }
    // The provider is asked; until then the body waits at the client.
    if (request instanceof EndpointRequest) request.hold();
    const goOn = <T>(work: () => T) =>
      new Promise<T>((resolve) => {
        if (request instanceof EndpointRequest) request.goOn(() => resolve(work()));
        else resolve(work());
      });
    try {
      context.state.caller = await found;
    } catch (error) {
      await goOn(() => undefined);
      throw error;
    }
    await goOn(answered);
  }

  /** MCE2 (an account has at most MAX_CALLS calls at a time). @throws Refused 429 */
  async #bounded(context: PipelineContext<McpState>): Promise<void> {
    const { caller } = context.state;
    const account = caller?.grant.account ?? '';
    const calls = this.#callsOf.get(account) ?? 0;
    if (calls >= MAX_CALLS) {
      const text = `too many calls at a time: this account has ${MAX_CALLS} unanswered ones`;
      throw new RefusedRequest({ status: 429, text, retryAfterSeconds: 1 });
    }
    this.#callsOf.set(account, calls + 1);
    context.res.once('close', () => {
      const left = (this.#callsOf.get(account) ?? 1) - 1;
      if (left === 0) this.#callsOf.delete(account);
      else this.#callsOf.set(account, left);
    });
    if (caller !== undefined) await this.#answer(context, caller);
  }

  async #answer(context: PipelineContext<McpState>, caller: McpCaller): Promise<void> {
    this.#serving ??= this.#load(context);
    const ended = new AbortController();
    context.res.once('close', () => ended.abort());
    const serving = await this.#serving;
    const { status, headers, body } = await serving.answer(
      {
        url: `${this.#origin}${ROOT}`,
        headers: new Headers(Object.entries(context.headers).map(([name, value]) => [name, String(value)])),
        body: context.state.body ?? Buffer.alloc(0),
        address: this.#addresses.of(context.req),
        signal: ended.signal,
      },
      caller,
    );
    context.status = status;
    context.set({ ...headers, ...PRIVATE_HEADERS, ...(this.parts.isDraining() && { Connection: 'close' }) });
    context.body = body ?? '';
  }

  /** The protocol's library is loaded with the first call. */
  async #load({ app }: PipelineContext<McpState>): Promise<McpServing> {
    const { McpServing } = await import('./serving.js');
    return new McpServing({ ...this.parts, server: new InnerServer(app.callback()) });
  }

  /** @throws Refused 404 without a provider: then there is no authorization server */
  resourceMetadata(): object {
    const { providers, mayChange } = this.parts;
    if (providers === undefined) throw new RefusedRequest(notFound('authorization server'));
    return {
      resource: `${this.#origin}${ROOT}`,
      authorization_servers: providers.issuers,
      bearer_methods_supported: ['header'],
      ...(mayChange && { scopes_supported: [CHANGE_SCOPE] }),
      resource_name: 'Millrace',
      resource_documentation: `${this.#origin}/docs/guide/mcp/`,
    };
  }

  /** @throws Refused 404 without a provider; TIMED_OUT */
  async serverMetadata(): Promise<object> {
    const { providers } = this.parts;
    const [first] = providers?.all ?? [];
    if (providers === undefined || first === undefined) throw new RefusedRequest(notFound('authorization server'));
    return providers.descriptionOf(first.name);
  }

  /** The management port's address for clients, known after it listens. */
  get #origin(): string {
    const { search } = this.parts.publicUrls;
    return new URL(search.includes('://') ? search : `http://${search}`).origin;
  }
}

function show(context: PipelineContext<McpState>, document: object): void {
  answer(context, { status: 200, text: JSON.stringify(document), headers: PUBLIC_HEADERS, isLast: false });
}
