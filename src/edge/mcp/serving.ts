/**
 * The protocol over HTTP, by the library for it. Loaded with the first call.
 *
 *  MCS1 no call leaves state in this process: calls of one client may reach any process of the installation. A session
 *       id that a client sends has no meaning
 */
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { createMcpHandler } from '@modelcontextprotocol/server';
import { MillraceError } from '../../kernel/index.js';
import type { Clock, Sealing } from '../../ports/index.js';
import { InnerDoor } from './inner-door.js';
import type { InnerServer } from './inner-server.js';
import type { McpCaller } from './mcp-access.js';
import { type ApiDocument, type CallCodes, Calls, Catalogue, operationsOf, serverOf, Tools } from './tools/index.js';

const HINT = ', or it changes data, and these credentials only read';
/** A person answers a question within this time. */
const CODE_MS = 10 * 60_000;
/** `openapi.json` has about 600 KB. */
const DOCUMENT_MS = 30_000;

export interface ServingParts {
  readonly server: InnerServer;
  readonly sealing: () => Sealing;
  readonly clock: Clock;
  readonly version: string;
}

/** A request of the protocol, with its body. */
export interface McpRequest {
  readonly url: string;
  readonly headers: Headers;
  readonly body: Buffer;
  readonly address: string;
  readonly signal: AbortSignal;
}

export interface McpAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Readable | undefined;
}

export class McpServing {
  #catalogues: Promise<Record<'reading' | 'changing', Catalogue>> | undefined;

  constructor(private readonly parts: ServingParts) {}

  async answer({ url, headers, body, address, signal }: McpRequest, caller: McpCaller): Promise<McpAnswer> {
    const { version } = this.parts;
    const tools = await this.#toolsOf(caller, address);
    const handler = createMcpHandler(() => serverOf(tools, version), { maxSubscriptions: 1, keepAliveMs: 0 });
    const request = new Request(url, { method: 'POST', headers, body: new Uint8Array(body), signal });
    const answer = await handler.fetch(request);
    const { status, body: stream } = answer;
    const readable = stream === null ? undefined : Readable.fromWeb(stream as Parameters<typeof Readable.fromWeb>[0]);
    return { status, headers: Object.fromEntries(answer.headers), body: readable };
  }

  async #toolsOf({ text, csrf, grant }: McpCaller, address: string): Promise<Tools> {
    const { server, sealing, clock } = this.parts;
    this.#catalogues ??= this.#readCatalogues();
    // The next call reads them again.
    this.#catalogues.catch(() => {
      this.#catalogues = undefined;
    });
    const { reading, changing } = await this.#catalogues;
    const calls = new Calls(new InnerDoor(server, { text, csrf, address }));
    const codes = new SealedCodes(sealing(), `${grant.account} ${grant.email}`, clock);
    return new Tools(grant.isReadOnly ? reading : changing, calls, codes);
  }

  async #readCatalogues() {
    const signal = AbortSignal.timeout(DOCUMENT_MS);
    const call = { method: 'GET', path: '/openapi.json', headers: new Headers(), body: undefined, address: '', signal };
    const answer = await this.parts.server.send(call);
    if (!answer.ok)
      throw new MillraceError('DEFECT', 'this process has no OpenAPI document', { status: answer.status });
    const document = (await answer.json()) as ApiDocument;
    const operations = operationsOf(document, '');
    const [reading, changing] = [false, true].map((mayChange) => new Catalogue(document, operations, mayChange, HINT));
    return { reading, changing } as Record<'reading' | 'changing', Catalogue>;
  }
}

/** Codes that every process of the installation accepts, from one person and for a limited time. */
class SealedCodes implements CallCodes {
  constructor(
    private readonly sealing: Sealing,
    private readonly person: string,
    private readonly clock: Clock,
  ) {}

  codeOf(call: string): string {
    const untilMs = Math.trunc(this.clock.nowMs()) + CODE_MS;
    return this.sealing.seal(JSON.stringify({ kind: 'mcp-call', person: this.person, call: digestOf(call), untilMs }));
  }

  isCodeOf(call: string, code: unknown): boolean {
    if (typeof code !== 'string') return false;
    try {
      const opened = JSON.parse(this.sealing.open(code)) as Readonly<Record<string, unknown>>;
      const isThis = opened.kind === 'mcp-call' && opened.person === this.person && opened.call === digestOf(call);
      return isThis && (opened.untilMs as number) > this.clock.nowMs();
    } catch {
      return false;
    }
  }
}

function digestOf(call: string): string {
  return createHash('sha256').update(call, 'utf8').digest('base64url');
}
