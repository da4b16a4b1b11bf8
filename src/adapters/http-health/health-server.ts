/**
 * The monitoring endpoint for supervisors, load balancers and scrapers: `/livez`, `/readyz`, `/readyz/edge`,
 * `/metrics`. It only reads, shows no data of tenants and needs no credentials, except an optional token for
 * `/metrics`.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import Router from '@koa/router';
import Koa from 'koa';
import { listenError } from '../../kernel/index.js';
import type { Check, Clock, Log, Timers } from '../../ports/index.js';

export interface HealthOptions {
  readonly host: string;
  /** 0 selects any free port. */
  readonly port: number;
  /** Named checks; the process is ready when all are ok. After `CHECKS_TIMEOUT_MS` it counts as not ready. */
  readonly checks: () => Readonly<Record<string, Check>> | Promise<Readonly<Record<string, Check>>>;
  /** The checks that decide whether the process can accept requests for any shard; empty: it accepts none. */
  readonly edgeChecks: readonly string[];
  readonly metrics: () => Promise<{ contentType: string; text: string }>;
  /** The token for reading the metrics; undefined: none is needed. */
  readonly metricsToken?: string | undefined;
  readonly timers: Timers;
  readonly log: Log;
}

export interface HealthServer {
  readonly host: string;
  readonly port: number;
  /** Closes open connections too, because a scraper reconnects. */
  close(): Promise<void>;
}

/** With these an edge can answer from any owner; `stop`: until load balancers have noticed the end. */
export const EDGE_CHECKS = ['start', 'stop', 'nats', 'control'];

/** A probe that waits longer is answered as not ready. */
const CHECKS_TIMEOUT_MS = 2_000;
/** The name for all checks when they do not answer. */
const UNANSWERED = 'checks';
/** Requests have no bodies here, so a few seconds are enough. */
const REQUEST_TIMEOUT_MS = 5_000;
/** How late a timeout may be noticed; each check wakes an idle process. */
const CONNECTIONS_CHECK_MS = 10_000;
/** A longer body is not read; its client has a moment to read the answer. */
const MAX_BODY_BYTES = 64 * 1024;
const LINGER_MS = 2_000;
/** For probes and scrapers, not clients. */
const MAX_CONNECTIONS = 100;

/** @throws BAD_CONFIG when the address cannot be listened on */
export async function startHealthServer(options: HealthOptions): Promise<HealthServer> {
  const app = healthApp(options).callback();
  const server = createServer(
    {
      headersTimeout: REQUEST_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      connectionsCheckingInterval: CONNECTIONS_CHECK_MS,
    },
    (request, response) => {
      if (hasLongBody(request)) refuseBody(request, response);
      else void app(request, response);
    },
  );
  server.maxConnections = MAX_CONNECTIONS;
  await listen(server, options);
  return {
    host: options.host,
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** A body of unknown length counts as long. */
function hasLongBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > MAX_BODY_BYTES;
}

/** The answer is complete but not ended, because Node would otherwise read the rest of the request. */
function refuseBody({ socket }: IncomingMessage, response: ServerResponse): void {
  const text = JSON.stringify({ error: 'requests to this port must not have a body' });
  const length = Buffer.byteLength(text);
  response.writeHead(413, { 'Content-Type': 'application/json', 'Content-Length': length, Connection: 'close' });
  // An answer to HEAD has no body.
  response.flushHeaders();
  response.write(text);
  socket.setTimeout(LINGER_MS);
}

function healthApp(options: HealthOptions): Koa {
  const router = new Router();
  // Answering proves that the event loop runs.
  router.get('/livez', (ctx) => {
    ctx.body = { status: 'ok' };
  });
  const readiness = (path: string, concerns: (name: string) => boolean) =>
    router.get(path, async (ctx) => {
      const all = Object.entries(await checksInTime(options));
      const checks = all.filter(([name]) => name === UNANSWERED || concerns(name));
      const isReady = checks.length > 0 && checks.every(([, { ok }]) => ok);
      ctx.status = isReady ? 200 : 503;
      ctx.body = { status: isReady ? 'ready' : 'not ready', checks: Object.fromEntries(checks) };
    });
  readiness('/readyz', () => true);
  readiness('/readyz/edge', (name) => options.edgeChecks.includes(name));
  const { metricsToken } = options;
  const wanted = metricsToken === undefined ? undefined : sha256(`Bearer ${metricsToken}`);
  router.get('/metrics', async (ctx) => {
    if (wanted !== undefined && !timingSafeEqual(sha256(ctx.get('Authorization')), wanted)) {
      ctx.status = 401;
      ctx.set('WWW-Authenticate', 'Bearer realm="metrics"');
      ctx.body = { error: 'unable to authenticate: invalid token' };
      return;
    }
    const { contentType, text } = await options.metrics();
    ctx.set('Content-Type', contentType);
    ctx.body = text;
  });

  const app = new Koa();
  // Without this Koa would print errors to stderr.
  app.silent = true;
  app.on('error', (error) => options.log.warn('health.failed', { error }));
  app.use(async (ctx, next) => {
    ctx.set('Cache-Control', 'no-store');
    if ((ctx.req.headersDistinct.host?.length ?? 0) > 1) {
      ctx.status = 400;
      ctx.body = { error: 'malformed HTTP request' };
      return;
    }
    await next();
  });
  app.use(router.routes());
  app.use(router.allowedMethods());
  return app;
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/** The first of: the checks, their failure, the timeout. */
function checksInTime({ checks, timers, log }: HealthOptions): Promise<Readonly<Record<string, Check>>> {
  return new Promise((resolve) => {
    const timer = timers.after(CHECKS_TIMEOUT_MS, () =>
      resolve({ [UNANSWERED]: { ok: false, detail: `no answer within ${CHECKS_TIMEOUT_MS} ms` } }),
    );
    Promise.resolve()
      .then(checks)
      .catch((error: unknown) => {
        log.warn('health.checks_failed', { error });
        return { [UNANSWERED]: { ok: false, detail: 'the checks failed; the log says why' } };
      })
      .then((answer) => {
        timer.cancel();
        resolve(answer);
      });
  });
}

function listen(server: Server, { host, port, log }: HealthOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    const refuse = (cause: Error) => reject(listenError('MILLRACE_METRICS_PORT', `${host}:${port}`, cause));
    server.once('error', refuse);
    server.listen(port, host, () => {
      server.removeListener('error', refuse);
      // For example out of descriptors: probes fail for a while, and the process continues.
      server.on('error', (error) => log.warn('health.failed', { error }));
      resolve();
    });
  });
}

/** Time between two checks. */
const LOOK_EVERY_MS = 5;
/** Time between two log lines about the parts that are not ready. */
const TELL_EVERY_MS = 10_000;

/** Resolves when every check is ok, or cannot become ok without an operator, which `/readyz` then reports. */
export async function untilReady(
  checks: () => Record<string, Check>,
  { timers, clock, log }: { readonly timers: Timers; readonly clock: Clock; readonly log: Log },
): Promise<void> {
  let toldAtMs = clock.monotonicMs();
  for (;;) {
    const awaited = Object.entries(checks()).filter(([, { ok, isStuck }]) => !ok && isStuck !== true);
    if (awaited.length === 0) return;
    if (clock.monotonicMs() - toldAtMs >= TELL_EVERY_MS) {
      toldAtMs = clock.monotonicMs();
      log.info('process.not-ready-yet', Object.fromEntries(awaited.map(([name, { detail }]) => [name, detail ?? ''])));
    }
    await timers.pause(LOOK_EVERY_MS);
  }
}
