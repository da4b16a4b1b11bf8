/**
 * The span of a request over HTTP: from its head to the end of its answer, by the route that is declared for it. Its path
 * and query are not told: they hold keys, values and tokens.
 */
import type { IncomingHttpHeaders } from 'node:http';
import type { Span } from '../../messages/index.js';
import type { Tracing } from '../../ports/index.js';

export interface TracedRequest {
  readonly method?: string | undefined;
  readonly headers: IncomingHttpHeaders;
}

const SERVER_ERROR = 500;

export class RequestTraces {
  constructor(
    private readonly face: string,
    private readonly tracing: Tracing,
  ) {}

  begin({ method = '', headers }: TracedRequest): Span | undefined {
    const { traceparent, tracestate } = headers;
    // Sent more than once it is a list with commas, which no reader takes.
    const parent = typeof traceparent === 'string' ? { traceparent, tracestate: tracestate?.toString() } : undefined;
    const attributes = { 'http.request.method': method, 'millrace.face': this.face };
    return this.tracing.begin(method, { kind: 'server', parent, attributes });
  }
}

/** @param route as it is declared */
export function endRequest(span: Span, method: string | undefined, route: string, status: number): void {
  span.set({ 'http.route': route, 'http.response.status_code': status });
  span.end(status >= SERVER_ERROR ? String(status) : undefined, `${method} ${route}`);
}
