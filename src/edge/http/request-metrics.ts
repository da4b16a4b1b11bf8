/**
 * Metrics of an endpoint's requests: number, status and duration, by declared route. A path is never a label, because
 * clients choose it.
 */
import type { Counter, Histogram, Metrics } from '../../ports/index.js';
import type { HttpRequest } from './exchange.js';

/** Label of requests that were refused before a route was found. */
export const NO_ROUTE = 'none';

/** Status of a request whose client disconnected before its answer. */
export const CLIENT_GONE = 499;

interface RouteMetrics {
  readonly seconds: Histogram;
  readonly byStatus: Map<number, Counter>;
}

export class RequestMetrics {
  readonly #routes = new Map<string, RouteMetrics>();

  /** @param endpoint its name, as in the log */
  constructor(
    private readonly endpoint: string,
    private readonly metrics: Metrics,
  ) {}

  answered(route: string, status: number, tookMs: number): void {
    const { seconds, byStatus } = this.#routes.get(route) ?? this.#begin(route);
    seconds.observe(tookMs / 1000);
    const known = byStatus.get(status);
    if (known !== undefined) known.add();
    else this.#beginStatus(route, status, byStatus);
  }

  #begin(route: string): RouteMetrics {
    const seconds = this.metrics.histogram('millrace_http_request_seconds', `${this.endpoint} ${route}`);
    const begun = { seconds, byStatus: new Map() };
    this.#routes.set(route, begun);
    return begun;
  }

  #beginStatus(route: string, status: number, byStatus: Map<number, Counter>): void {
    const counter = this.metrics.counter('millrace_http_requests_total', `${this.endpoint} ${route} ${status}`);
    byStatus.set(status, counter);
    counter.add();
  }
}

/** @param route as declared */
export function foundRoute(request: HttpRequest, route: string): void {
  (request as { route?: string }).route = route;
}
