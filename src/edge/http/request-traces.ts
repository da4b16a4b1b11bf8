/**
 * The span of an HTTP request, from its head to the end of its answer, named by the declared route. Path and query
 * are left out: they hold keys, values and tokens.
 */
import type { IncomingHttpHeaders } from 'node:http';
import type { Tracing } from '../../ports/index.js';
import type { Span } from '../../protocol/index.js';

export interface TracedRequest {
  readonly method?: string | undefined;
  readonly headers: IncomingHttpHeaders;
}

const SERVER_ERROR = 500;

export class RequestTraces {
  constructor(
    private readonly endpoint: string,
    private readonly tracing: Tracing,
  ) {}

  begin({ method = '', headers }: TracedRequest): Span | undefined {
    const { traceparent, tracestate } = headers;
    // A repeated header becomes a list, which is no valid `traceparent`.
    const parent = typeof traceparent === 'string' ? { traceparent, tracestate: tracestate?.toString() } : undefined;
    const attributes = { 'http.request.method': method, 'millrace.face': this.endpoint };
    return this.tracing.begin(method, { kind: 'server', parent, attributes });
  }
}

/** @param route as declared */
export function endRequest(span: Span, method: string | undefined, route: string, status: number): void {
  span.set({ 'http.route': route, 'http.response.status_code': status });
  span.end(status >= SERVER_ERROR ? String(status) : undefined, `${method} ${route}`);
}
