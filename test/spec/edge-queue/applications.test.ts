/** Requests about applications that are refused before the owner is asked. Proves ESC1, ESC2. */
import { expect } from 'chai';
import { SocketHttpOut } from '../../../src/adapters/http-delivery/index.js';
import type { RefusedRequest } from '../../../src/edge/http/refused.js';
import type { QueueServerParts } from '../../../src/edge/index.js';
import { EventSchemas } from '../../../src/edge/queue/applications/event-schemas.js';
import { lookIn } from '../../../src/edge/queue/applications/portal-page.js';
import { CUSTOMER_MAILS_FORMAT_LEVEL } from '../../../src/kernel/index.js';
import { QueueEndpointHarness } from '../../support/queue-endpoint.js';
import { standOfEachTest } from '../../support/stand-hooks.js';

const APPLICATION = {
  id: 'app_1',
  uid: undefined,
  name: '',
  metadata: [],
  rate: undefined,
  createdAtMs: 1,
  updatedAtMs: 1,
};
const FOUND = { type: 'Application', application: APPLICATION, endpoints: [], eventType: undefined } as const;

describe('edge/queue: applications', () => {
  const destinations = new SocketHttpOut({ allowPrivate: false, allow: [] });
  const face = standOfEachTest(() => new QueueEndpointHarness({ destinations }).start());
  after(() => destinations.close());

  const linkOf = async () => {
    face.gateway.answer('GetApplication', FOUND);
    return ((await face.post('/v2/apps/app_1/portal')).json as { token: string }).token;
  };

  for (const url of [
    'http://127.0.0.1:4222/',
    'http://[::1]/',
    'http://169.254.169.254/latest/meta-data',
    'http://10.0.0.8/',
    'http://0x7f.1/',
    'http://user:word@192.168.0.1/',
    'ftp://customer.example/',
    'group-name',
  ]) {
    it(`an endpoint at ${url} is refused, also from the portal`, async () => {
      const token = await linkOf();
      for (const options of [{ body: { url } }, { body: { url }, token }]) {
        const answer = await face.post('/v2/apps/app_1/endpoints', options);
        expect([answer.status, face.gateway.asked.some(({ type }) => type === 'SetApplicationEndpoint')]).to.deep.equal(
          [400, false],
        );
      }
    });
  }

  const WRONG = [
    ['/v2/apps', { name: 7 }, /^name must be a string/],
    ['/v2/apps', { title: 'x' }, /^unknown member title/],
    ['/v2/apps', { uid: 'a b' }, /^uid may have letters/],
    ['/v2/apps', { metadata: { a: 1 } }, /^metadata.a must be a string/],
    ['/v2/apps', { email: 'no address' }, /^email must be one e-mail address/],
    ['/v2/apps', { email: 'a@b.example\r\nBcc: c@d.example' }, /^email must be one e-mail address/],
    ['/v2/apps', { email: 'a@b.example?subject=x' }, /^email must be one e-mail address/],
    ['/v2/apps', { email: 'a@b.example,c@d.example' }, /^email must be one e-mail address/],
    ['/v2/apps', { email: 'Anna <a@b.example>' }, /^email must be one e-mail address/],
    ['/v2/apps', { email: `${'a'.repeat(250)}@b.example` }, /^email must be shorter than or equal to 254/],
    ['/v2/apps', { rate: -1 }, /^rate must not be less than 0/],
    ['/v2/apps/app_1/endpoints', {}, /^url is required/],
    ['/v2/apps/app_1/endpoints', { url: 'https://a.example/', filter: 'a = ' }, /^filter: /],
    [
      '/v2/apps/app_1/endpoints',
      { url: 'https://a.example/', headers: { 'Webhook-Id': 'x' } },
      /part of the signature/,
    ],
    ['/v2/apps/app_1/endpoints', { url: 'https://a.example/', headers: { Host: 'x' } }, /header host cannot be set/],
    ['/v2/apps/app_1/endpoints', { url: 'https://a.example/', secret: 'x' }, /^secret: must be whsec_/],
    ['/v2/apps/app_1/endpoints', { url: 'https://a.example/', signatures: [] }, /needs a signature/],
    ['/v2/apps/app_1/portal', { expiresIn: '8d' }, /^expiresIn must be a duration/],
    ['/v2/apps/app_1/replay', { which: 'all' }, /^from is required/],
    ['/v2/apps/app_1/replay', { count: 101 }, /^count must not be greater than 100/],
    ['/v2/apps/app_1/replay', { cursor: 'x' }, /^cursor: is not of an earlier answer/],
    ['/v2/event-types', { name: 'a/b' }, /^name may have letters/],
    ['/v2/event-types', { name: 'a', schema: { type: 'no' } }, /^schema: /],
    ['/v2/event-types', { name: 'a', schema: { $ref: '#' } }, /must begin with #\//],
    [
      '/v2/event-types',
      { name: 'a', schema: { type: 'integer' }, examples: ['x'] },
      /^payload is not of a type\(s\) integer/,
    ],
    ['/v2/event-types', { name: 'a', schema: { description: 'x'.repeat(40_000) } }, /^schema is longer than/],
  ] as const;
  for (const [path, body, text] of WRONG) {
    it(`POST ${path} refuses ${JSON.stringify(body).slice(0, 80)}, with an error that says why`, async () => {
      face.gateway.answer('GetApplication', FOUND);
      const answer = await face.post(path, { body });
      expect(answer.status).to.equal(400);
      expect((answer.json as { error: string }).error).to.match(text);
    });
  }

  it('POST and PATCH /v2/apps take an email, refuse one without a mail server or before format level 7, and show it', async () => {
    const email = 'anna@customer.example';
    face.gateway.answer('GetApplication', FOUND);
    face.gateway.answer('SetApplication', { ...FOUND, application: { ...APPLICATION, email } });
    for (const answer of [
      await face.post('/v2/apps', { body: { email } }),
      await face.patch('/v2/apps/app_1', { body: { email } }),
    ]) {
      expect([answer.status, (answer.json as { email: string }).email]).to.deep.equal([200, email]);
      expect(face.gateway.last('SetApplication').email).to.equal(email);
    }
    const refused = async (parts: Partial<QueueServerParts>) => {
      const other = await new QueueEndpointHarness({ destinations, ...parts }).start();
      other.gateway.answer('SetApplication', FOUND);
      const answer = await other.post('/v2/apps', { body: { email } });
      const removal = await other.post('/v2/apps', { body: { email: '' } });
      await other.stop();
      return [answer.status, (answer.json as { error: string }).error, removal.status];
    };
    expect(await refused({ hasMail: false })).to.deep.equal([
      400,
      'email: no mail server is set (MILLRACE_SMTP_URL)',
      200,
    ]);
    expect(await refused({ formatLevel: () => CUSTOMER_MAILS_FORMAT_LEVEL - 1 })).to.deep.equal([
      400,
      'email needs format level 7: run millrace cluster upgrade',
      200,
    ]);
  });

  it('a mailto: URL is no destination of a message, a callback, an endpoint or a notice', async () => {
    face.gateway.answer('GetApplication', FOUND);
    const url = 'mailto:anna@customer.example';
    const publish = (headers: Record<string, string> = {}) => ({ headers, body: 'x' });
    const answers = [
      await face.post(`/v2/publish/${url}`, publish()),
      await face.post('/v2/publish/https://a.example/', publish({ 'svc-callback': url })),
      await face.post('/v2/batch', { body: [{ destination: url, body: 'x' }] }),
      await face.post('/v2/apps/app_1/endpoints', { body: { url } }),
      await face.post('/v2/apps', { body: { notifyUrl: url } }),
      await face.post('/v2/destinations/rules', { body: { notifyUrl: url } }),
    ];
    for (const { status, text } of answers)
      expect([status, text.includes('scheme') || text.includes('http')]).to.deep.equal([400, true]);
    expect(face.gateway.published).to.deep.equal([]);
  });

  it('a file of the portal that is not a look is refused, with the reason', () => {
    const judged = (look: object) => {
      try {
        return lookIn(Buffer.from(JSON.stringify(look)));
      } catch (error) {
        return (error as RefusedRequest).refusal.text;
      }
    };
    expect(judged({ accent: 'red' })).to.include('accent must match');
    expect(judged({ logo: 'https://shop.example/logo.png' })).to.include('logo must be a data: URL');
    expect(judged({ words: { add: 7 } })).to.equal('words.add must be a short string');
    expect(judged({ colour: '#000000' })).to.equal('unknown member colour');
    expect(judged({ title: 'Shop', words: { add: 'New' } })).to.deep.include({ title: 'Shop', words: { add: 'New' } });
  });

  describe('schemas of event types', () => {
    const schemas = new EventSchemas();
    const outcome = (act: () => void): string => {
      try {
        act();
        return 'accepted';
      } catch (error) {
        return String(error);
      }
    };
    const judged = (schema: unknown) => outcome(() => schemas.judge(JSON.stringify(schema)));
    const validated = (schema: object, payload: unknown) =>
      outcome(() => schemas.validate(JSON.stringify(schema), payload));

    it('references that lead to themselves, or grow without end, are refused (ESC1)', () => {
      const circle = { $defs: { a: { properties: { next: { $ref: '#/$defs/a' } } } }, $ref: '#/$defs/a' };
      expect(judged(circle)).to.include('leads to itself');
      const doubled = Object.fromEntries(
        Array.from({ length: 30 }, (_, at) => [`d${at}`, { allOf: Array(2).fill({ $ref: `#/$defs/d${at + 1}` }) }]),
      );
      expect(judged({ $defs: { ...doubled, d30: {} }, $ref: '#/$defs/d0' })).to.include('more than 2000 parts');
      expect(judged({ type: 'array', uniqueItems: true })).to.include('uniqueItems is not supported');
      expect(judged({ $defs: { id: { type: 'string' } }, properties: { id: { $ref: '#/$defs/id' } } })).to.equal(
        'accepted',
      );
    });

    it('a payload is checked against a bounded number of parts (ESC1)', () => {
      const schema = {
        items: { properties: Object.fromEntries(Array.from({ length: 100 }, (_, at) => [`p${at}`, {}])) },
      };
      expect(validated(schema, Array(50).fill({}))).to.equal('accepted');
      expect(validated(schema, Array(500).fill({}))).to.include('payload has too many values for its schema');
    });

    it('a pattern that backtracks elsewhere takes linear time (ESC2)', () => {
      const schema = { type: 'string', pattern: '^(a+)+$' };
      expect(validated(schema, 'aaa')).to.equal('accepted');
      expect(validated(schema, `${'a'.repeat(5_000)}!`)).to.include('payload must match the pattern ^(a+)+$');
    });

    it('a keyword without effect, a wrong value and a pattern that RE2 does not know are refused (ESC3)', () => {
      for (const [schema, error] of [
        [{ prefixItems: [{}] }, 'prefixItems is not supported'],
        [{ patternProperties: { a: {} } }, 'patternProperties is not supported'],
        [{ properties: { a: { '#counted': 1 } } }, '#counted is not supported'],
        [{ type: 'text' }, 'type has a value that it cannot have'],
        [{ minLength: -1 }, 'minLength has a value that it cannot have'],
        [{ pattern: '(?=a)' }, 'pattern has a value that it cannot have'],
        [{ items: 3 }, 'a part is neither an object nor a boolean'],
        [{ properties: { a: { $ref: '#/$defs/a', type: 'string' } }, $defs: { a: {} } }, 'use allOf'],
        [{ $ref: '#/$defs/%E0%A4%A' }, 'there is no #/$defs/%E0%A4%A'],
        ['text', 'a part is neither'],
      ] as const) {
        expect(judged(schema), JSON.stringify(schema)).to.include(error);
      }
    });

    it('a payload is checked by each keyword, and the error names the place', () => {
      const schema = {
        $schema: 'http://json-schema.org/draft-07/schema#',
        $id: 'https://a.example/invoice',
        type: 'object',
        required: ['id'],
        additionalProperties: false,
        properties: {
          id: { $ref: '#/$defs/id' },
          lines: { type: 'array', items: { type: 'object', properties: { price: { type: 'number', minimum: 0 } } } },
          kind: { enum: ['a', 'b'] },
        },
        if: { properties: { kind: { const: 'a' } } },
        else: { required: ['lines'] },
        $defs: { id: { type: 'string', pattern: '^in_' } },
      };
      expect(validated(schema, { id: 'in_1', lines: [{ price: 1 }], kind: 'b' })).to.equal('accepted');
      for (const [payload, error] of [
        [{}, 'payload requires property "id"'],
        [{ id: 'x' }, 'payload.id must match the pattern ^in_'],
        [
          { id: 'in_1', lines: [{ price: 1 }, { price: -1 }] },
          'payload.lines[1].price must be greater than or equal to 0',
        ],
        [{ id: 'in_1', kind: 'c' }, 'payload.kind is not one of enum values: a,b'],
        [{ id: 'in_1', kind: 'b' }, 'requires property "lines"'],
        [{ id: 'in_1', other: 1 }, 'additional property "other"'],
        ['in_1', 'payload is not of a type(s) object'],
      ] as const) {
        expect(validated(schema, payload), JSON.stringify(payload)).to.include(error);
      }
    });
  });
});
