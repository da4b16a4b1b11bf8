/**
 * The first handler of every request, on Node's server or, for plain requests (plain-head.ts), without it. It serves
 * the frequent calls in front of Koa: publish, enqueue, batch, and the calls of endpoints in the middle of a run. All
 * others go to Koa's application, on Node's server.
 *
 * Order of checks: token, method, rights, configuration, body.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { assert } from '../../kernel/index.js';
import { queueBodyTooLarge } from '../error-map.js';
import type { PassedCall } from '../http/application.js';
import type { HttpResponse, ReceivedRequest } from '../http/exchange.js';
import {
  BODILESS_METHODS,
  type BodyOutcome,
  discardBody,
  EndpointRequest,
  ofRead,
  RequestBodyReader,
} from '../http/index.js';
import type { PlainRequest, PlainResponse } from '../http/plain-exchange.js';
import { bodyRefused, RefusedRequest } from '../http/refused.js';
import { foundRoute } from '../http/request-metrics.js';
import { splitTarget } from './destination.js';
import type { BegunCall, CallExchange, HotRoute, QueueCall } from './queue-call.js';
import type { QueueEndpoint } from './queue-endpoint.js';
import { admitted, type BegunRoute, callOf, failEarly, isAt, isOf, noteRun, RUN_ROUTES } from './received-call.js';
import { HOT_ROUTES } from './routes/index.js';
import { beginsWithStep, runInBeginning } from './run-headers.js';

interface Hot {
  readonly route: Pick<HotRoute, 'begin' | 'bodyBound'>;
  /** In metrics. */
  readonly label: string;
  isAt(method: string | undefined, path: string): boolean;
}

const HOT: readonly Hot[] = [...HOT_ROUTES.map(declaredHot), ...RUN_ROUTES.map(hotOfRun)];

/** A route with a destination refuses other methods itself; the others are Koa's. */
function declaredHot(route: HotRoute): Hot {
  const [path] = route.paths;
  const label = path.replace(/[:*].*$/, '');
  if (label === path) return { route, label, isAt: (method, at) => method === 'POST' && isAt(label, at) };
  return { route, label, isAt: (_method, at) => at.startsWith(label) };
}

/** A run ends with such a call; on Koa it would move the connection of all later steps to Node's server. */
function hotOfRun(begun: BegunRoute): Hot {
  const { route, start } = begun;
  const [label] = route.paths;
  const name = label.slice(start.length + 1);
  const begin = (call: QueueCall): BegunCall => {
    noteRun(call);
    return {
      maxBodyBytes: admitted(call, route),
      async take(body) {
        call.body = body;
        await route.handle(call, { path: { [name]: call.path.slice(start.length) }, query: {}, body: {} });
      },
    };
  };
  return { route: { ...route, begin }, label, isAt: (method, path) => isOf(begun, method, path) };
}

export function hotRouteAt(method: string | undefined, path: string): Hot | undefined {
  return HOT.find((hot) => hot.isAt(method, path));
}

export class HotCalls {
  readonly #bodies: RequestBodyReader;

  /** @param application serves all other calls */
  constructor(
    private readonly endpoint: QueueEndpoint,
    private readonly application: (request: IncomingMessage, response: ServerResponse) => void,
  ) {
    this.#bodies = new RequestBodyReader(endpoint.budget);
  }

  handle(request: EndpointRequest, response: ServerResponse): void {
    if (!this.#serveHot(request, response)) this.application(request, response);
  }

  handlePlain(request: PlainRequest, response: PlainResponse): void {
    if (!this.#serveHot(request, response)) request.handOver();
  }

  #serveHot(request: ReceivedRequest, response: HttpResponse): boolean {
    const target = splitTarget(request.url as string);
    const hot = hotRouteAt(request.method, target.path);
    if (hot !== undefined) this.#serve({ request, response, target }, hot);
    return hot !== undefined;
  }

  /** Answers a frequent call that another endpoint of this process made of a request. */
  pass({ request, response }: Omit<CallExchange, 'target'>, passed: PassedCall): void {
    const target = splitTarget(passed.url);
    const hot = hotRouteAt(request.method, target.path);
    assert(hot !== undefined, 'a call that is not frequent');
    this.#serve({ request, response, target, passed }, hot);
  }

  #serve(exchange: CallExchange, { route, label }: Hot): void {
    let call: QueueCall | undefined;
    try {
      call = callOf(this.endpoint, exchange);
      if (exchange.passed === undefined) foundRoute(exchange.request, label);
      this.#receive(call, route, route.begin(call));
    } catch (failure) {
      if (call === undefined) failEarly(this.endpoint, exchange, failure);
      else void call.fail(failure);
    }
  }

  #receive(call: QueueCall, { bodyBound }: Hot['route'], { maxBodyBytes, take }: BegunCall): void {
    const taken = (outcome: BodyOutcome) => {
      try {
        if (outcome.kind === 'whole') take(outcome.body).catch((failure) => call.fail(failure));
        else if (outcome.kind === 'too-large' && bodyBound === 'batch') refuseLarge(call, maxBodyBytes);
        else if (outcome.kind !== 'aborted') throw bodyRefused(outcome, maxBodyBytes);
      } catch (failure) {
        void call.fail(failure);
      }
    };
    const { passed, request } = call.exchange;
    if (BODILESS_METHODS.has(request.method)) {
      discardBody(request);
      taken(ofRead(call.body, maxBodyBytes));
    } else if (passed === undefined) this.#bodies.read(call, call.grant.account, maxBodyBytes, taken);
    else taken(ofRead(passed.body, maxBodyBytes));
  }
}

/** The form of the refusal depends on the batch's sender, which its first bytes show; they are on their way. */
function refuseLarge(call: QueueCall, limitBytes: number): void {
  const { request } = call;
  const refused = new RefusedRequest(queueBodyTooLarge(limitBytes));
  if (request.complete || request.headers.expect !== undefined || !(request instanceof EndpointRequest)) throw refused;
  const refuse = (beginning?: Buffer) => {
    request.off('data', refuse);
    request.off('end', refuse);
    if (beginning !== undefined && beginsWithStep(beginning)) {
      call.isOfRun = true;
      call.runOfStep = runInBeginning(beginning);
    }
    void call.fail(refused);
  };
  request.on('data', refuse);
  request.on('end', refuse);
}
