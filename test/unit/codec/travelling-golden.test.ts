/**
 * Requests for partitions, questions to the read models and frames of the bus keep their bytes: those of an earlier
 * release are read and written with the same bytes. The files in test/fixtures/bus are added to, never edited.
 */
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import {
  type BusFrame,
  decodeFrame,
  encodeFailure,
  encodeOffer,
  encodePayload,
} from '../../../src/adapters/nats/bus-frames.js';
import { decodeHotRequest, encodeHotRequest } from '../../../src/codec/remote/hot-requests.js';
import {
  decodeKvRequest,
  decodeKvResponse,
  encodeKvRequest,
  encodeKvResponse,
} from '../../../src/codec/remote/index.js';
import { MillraceError, type SessionId } from '../../../src/kernel/index.js';
import { bothWays } from '../../../src/kernel/schema/index.js';
import { type KvClient, type KvRequest, kvRequest } from '../../../src/protocol/index.js';
import {
  decodeQuestion,
  decodeSharedPage,
  encodeQuestion,
  encodeSharedPage,
  type Page,
} from '../../../src/query/question-codec.js';
import {
  GOLDEN_FRAME_FAILURES,
  GOLDEN_KV_REQUESTS,
  GOLDEN_KV_RESPONSES,
  GOLDEN_OFFERS,
  GOLDEN_PAGES,
  GOLDEN_PAYLOAD,
  GOLDEN_QUESTIONS,
} from './travelling-golden-values.js';

const recorded = (fixture: string, name: string) =>
  (JSON.parse(readFileSync(`test/fixtures/bus/${fixture}.json`, 'utf8')) as Record<string, string[]>)[name] ?? [];
const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');
const bytesOf = (text: string) => Uint8Array.from(Buffer.from(text, 'hex'));
const errorOf = (frame: BusFrame) => (frame.kind === 'failure' ? frame.error : undefined);

describe('messages between processes keep their recorded bytes', () => {
  const keep = <T>(
    fixture: string,
    name: string,
    values: readonly T[],
    encode: (value: T) => Uint8Array,
    decode: (bytes: Uint8Array) => T,
  ) =>
    it(`${fixture}: ${name}`, () => {
      const texts = recorded(fixture, name);
      expect(values.map((value) => hex(encode(value)))).to.deep.equal(texts);
      for (const [at, text] of texts.entries()) {
        expect(hex(encode(decode(bytesOf(text))))).to.equal(text);
        expect(decode(bytesOf(text))).to.deep.include(withoutUndefined(values[at] as object));
      }
    });

  keep('kv', 'requests', GOLDEN_KV_REQUESTS, encodeKvRequest, decodeKvRequest);
  keep('kv', 'responses', GOLDEN_KV_RESPONSES, encodeKvResponse, decodeKvResponse);
  keep('questions', 'questions', GOLDEN_QUESTIONS, encodeQuestion, decodeQuestion);

  it('kv: requests and answers of an earlier version are read without newer fields', () => {
    const [request = ''] = recorded('kv', 'older requests');
    expect(withoutUndefined(decodeKvRequest(bytesOf(request)))).to.deep.equal({
      database: 'db-aaaabbbbccccdddd',
      partition: 'kv:db-aaaabbbbccccdddd:0',
      mode: 'single',
      commands: [['GET', 'a']],
      bytes: 4,
    });
    const [plain = '', aborted = ''] = recorded('kv', 'older responses');
    expect(decodeKvResponse(bytesOf(plain))).to.deep.equal({ syncToken: '12-3', replies: [null, 'a', 1] });
    expect(decodeKvResponse(bytesOf(aborted))).to.include({ isAborted: true, isFull: false, hasSaid: false });
  });

  it('kv: invalid requests and answers are refused', () => {
    for (const text of ['', 'c0', '91a161', '92a161c3', '92a16191d401c0', '92a16191d463c0', '92a161d40901']) {
      for (const decode of [decodeKvRequest, decodeKvResponse]) {
        expect(() => decode(bytesOf(text)), text)
          .to.throw(MillraceError)
          .with.property('code', 'INVALID');
      }
    }
  });

  it('kv: the author and the first partition of a request reach the owner', () => {
    for (const more of [{}, { trackFor: 'node-1' as SessionId }]) {
      const request = { ...GOLDEN_KV_REQUESTS[2], ...more, by: 'ada@127.0.0.1', partitions: 2, firstPartition: 4 };
      expect(decodeKvRequest(encodeKvRequest(request as KvRequest))).to.deep.include(request);
    }
  });

  it('kv: hand-written codecs have the bytes and values of the declared shapes', () => {
    const [encodeDeclared, decodeDeclared] = bothWays(kvRequest, 'a request', 'INVALID');
    const [plain, , ofClient] = GOLDEN_KV_REQUESTS as readonly [KvRequest, KvRequest, KvRequest];
    const client = { ...ofClient.client, name: 'worker' } as KvClient;
    const more = [{ client, by: 'ada@127.0.0.1' }, { partitions: 3, firstPartition: 4 }, { maxAnswerBytes: 70_000 }];
    let hot = 0;
    for (const request of [...GOLDEN_KV_REQUESTS, ...more.map((details) => ({ ...plain, ...details }))]) {
      const bytes = encodeHotRequest(request);
      if (bytes === undefined) continue;
      hot += 1;
      expect(hex(bytes)).to.equal(hex(encodeDeclared({ ...request, details: request })));
      const { details: read, ...asked } = decodeDeclared(bytes);
      expect(withoutUndefined(decodeHotRequest(bytes) as object)).to.deep.equal({ ...asked, ...read });
    }
    expect(hot).to.equal(6);
  });

  it('kv: a cut or changed request has the outcome of its declared shape', () => {
    const [, decodeDeclared] = bothWays(kvRequest, 'a request', 'INVALID');
    const whole = Buffer.from(encodeKvRequest({ ...GOLDEN_KV_REQUESTS[2], by: 'ada@127.0.0.1' } as KvRequest));
    const isRefused = (read: () => unknown) => {
      try {
        read();
        return false;
      } catch (error) {
        return (error as MillraceError).code;
      }
    };
    for (let at = 0; at < whole.length; at += 1) {
      const cut = whole.subarray(0, at);
      expect(
        isRefused(() => decodeKvRequest(cut)),
        `cut at ${at}`,
      ).to.equal(isRefused(() => decodeDeclared(cut)));
      for (const byte of [0x00, 0x80, 0x91, 0xa3, 0xc0, 0xff]) {
        const changed = Buffer.from(whole);
        changed[at] = byte;
        const why = `${byte} at ${at}`;
        expect(
          isRefused(() => decodeKvRequest(changed)),
          why,
        ).to.equal(isRefused(() => decodeDeclared(changed)));
      }
    }
  });

  it('questions: a page has the shared parts of its items once', () => {
    const texts = recorded('questions', 'pages');
    expect(GOLDEN_PAGES.map((page) => hex(encodeSharedPage(page as Page<never>)))).to.deep.equal(texts);
    const [, page] = texts.map((text) => decodeSharedPage<never>(bytesOf(text)));
    expect(page).to.deep.equal(withoutUndefined(GOLDEN_PAGES[1] as object));
  });

  it('frames', () => {
    expect([hex(encodePayload(GOLDEN_PAYLOAD))]).to.deep.equal(recorded('frames', 'payload'));
    const offers = recorded('frames', 'offers');
    expect(GOLDEN_OFFERS.map((offer) => hex(encodeOffer(offer)))).to.deep.equal(offers);
    expect(offers.map((text) => decodeFrame(bytesOf(text)))).to.deep.equal(
      GOLDEN_OFFERS.map((offer) => ({ kind: 'offer', offer })),
    );
    const failures = recorded('frames', 'failures');
    expect(GOLDEN_FRAME_FAILURES.map((error) => hex(encodeFailure(error)))).to.deep.equal(failures);
    const read = failures.map((text) => errorOf(decodeFrame(bytesOf(text))));
    expect(read.map((error) => error?.code)).to.deep.equal(['FENCED', 'INVALID', 'INVALID', 'DEFECT']);
    expect(read.map((error) => error?.message)).to.deep.equal([
      'lost',
      'half \ud800 a pair',
      'without a form',
      'größer',
    ]);
    expect(read[0]?.details).to.deep.equal({ shard: 'KV_1', epoch: -7, ids: ['a'], at: 1.5, nil: null });
  });
});

function withoutUndefined(value: object): object {
  const entries = Object.entries(value).filter(([, part]) => part !== undefined);
  return Object.fromEntries(entries.map(([name, part]) => [name, plain(part)]));
}

function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain);
  return Object.getPrototypeOf(value ?? 0) === Object.prototype ? withoutUndefined(value as object) : value;
}
