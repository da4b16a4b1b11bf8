/** A trace collector on this machine: accepts OTLP over HTTP in JSON, stores every span, and can fail on request. */
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import { eventually } from './eventually.js';

interface OtlpValue {
  readonly stringValue?: string;
  readonly intValue?: number | string;
  readonly boolValue?: boolean;
}

interface OtlpSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly { readonly key: string; readonly value: OtlpValue }[];
  readonly links?: readonly { readonly traceId: string; readonly spanId: string }[];
}

interface OtlpRequest {
  readonly resourceSpans: readonly { readonly scopeSpans: readonly { readonly spans: readonly OtlpSpan[] }[] }[];
}

export interface CollectedSpan extends Omit<OtlpSpan, 'attributes'> {
  readonly attributes: Readonly<Record<string, string | number | boolean | undefined>>;
}

const ARRIVAL_TIMEOUT_MS = 30_000;

export class TraceCollector {
  readonly spans: CollectedSpan[] = [];
  /** The headers of each request. */
  readonly headers: IncomingHttpHeaders[] = [];
  /** All received text, unchanged. */
  text = '';
  /** The status of its answers; 0 for no answer. */
  status = 200;

  private constructor(private readonly server: Server) {}

  static async listening(port = 0): Promise<TraceCollector> {
    const server = createServer();
    const collector = new TraceCollector(server);
    server.on('request', (request, response) => {
      const pieces: Buffer[] = [];
      request.on('data', (piece) => pieces.push(piece));
      request.on('end', () => {
        collector.headers.push(request.headers);
        if (collector.status === 0) return;
        if (collector.status === 200) collector.#take(Buffer.concat(pieces).toString('utf8'));
        response.writeHead(collector.status, { 'content-type': 'application/json' }).end('{}');
      });
    });
    await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
    return collector;
  }

  get url(): string {
    const address = this.server.address();
    return `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`;
  }

  of(traceId: string): readonly CollectedSpan[] {
    return this.spans.filter((span) => span.traceId === traceId);
  }

  /** @returns the spans of a trace, when the wanted ones are there */
  trace(traceId: string, isWhole: (spans: readonly CollectedSpan[]) => boolean): Promise<readonly CollectedSpan[]> {
    return eventually(
      () => {
        const spans = this.of(traceId);
        if (!isWhole(spans)) throw new Error(`only ${treeOf(spans)}`);
        return spans;
      },
      { timeoutMs: ARRIVAL_TIMEOUT_MS },
    );
  }

  /** @returns the matching spans, when there are this many */
  found(isOne: (span: CollectedSpan) => boolean, count: number): Promise<readonly CollectedSpan[]> {
    return eventually(
      () => {
        const spans = this.spans.filter(isOne);
        if (spans.length < count) throw new Error(`only ${treeOf(spans)}`);
        return spans;
      },
      { timeoutMs: ARRIVAL_TIMEOUT_MS },
    );
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  #take(text: string): void {
    this.text += text;
    const { resourceSpans } = JSON.parse(text) as OtlpRequest;
    for (const span of resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans))) {
      const pairs = span.attributes.map(({ key, value: { stringValue, intValue, boolValue } }) => [
        key,
        stringValue ?? boolValue ?? (intValue === undefined ? undefined : Number(intValue)),
      ]);
      this.spans.push({ ...span, attributes: Object.fromEntries(pairs) });
    }
  }
}

/** `parent > child` of every span, by name and sorted; `… > child` if the parent is not among the spans. */
export function treeOf(spans: readonly CollectedSpan[]): string[] {
  const names = new Map(spans.map(({ spanId, name }) => [spanId, name]));
  return spans
    .map(({ parentSpanId, name }) => {
      const parent = parentSpanId === undefined || parentSpanId === '' ? 'none' : (names.get(parentSpanId) ?? '…');
      return `${parent} > ${name}`;
    })
    .sort();
}
