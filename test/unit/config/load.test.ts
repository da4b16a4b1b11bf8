/** Proves KI1, KI3, LD2, LD3, and references to secrets. */
import { inspect } from 'node:util';
import { expect } from 'chai';
import {
  describeConfig,
  httpEndpointOptionsOf,
  loadConfig,
  nativeBoundsOf,
  SETTINGS,
  Secret,
  type SecretReference,
} from '../../../src/config/index.js';
import { isMillraceError } from '../../../src/kernel/index.js';

type Env = Record<string, string>;

function load(env: Env = {}) {
  return loadConfig(env).config;
}

function lineOf(env: Env): string {
  try {
    loadConfig(env);
  } catch (error) {
    expect(isMillraceError(error, 'BAD_CONFIG'), String(error)).to.equal(true);
    return (error as Error).message;
  }
  throw new Error(`accepted: ${JSON.stringify(env)}`);
}

const REMOTE = { MILLRACE_NATS_URL: 'nats://10.0.0.1:4222' };
const MS = 'a whole number of milliseconds';
const BYTES = 'bytes, plain or with KiB, MiB or GiB,';
const URL_ACCEPTS = 'http:// or https:// and a host, without user, password, query or #';
const TOKEN = '1 to 512 visible ASCII characters without spaces';
const LINE = '1 to 512 characters on one line';

/** For each variable, a value that it refuses, and the error line after the variable's name. */
const BAD: Record<string, [string, string]> = {
  ROLES: ['edge,mill', 'accepts one or more of edge, kv, queue, projection, separated by commas, not "edge,mill"'],
  WORKERS: ['many', 'accepts auto, or a whole number from 1 to 64, not "many"'],
  MCP: ['on', 'accepts off or read or change, not "on"'],
  LOG_LEVEL: ['loud', 'accepts debug or info or warn or error, not "loud"'],
  HEAP_MB: ['1GiB', 'accepts MiB from 128 to 65536, not "1GiB"'],
  MEMORY_BYTES: ['1MiB', `accepts ${BYTES} from 32MiB to 1024GiB, not "1MiB"`],
  SHUTDOWN_MS: ['99', `accepts ${MS} from 100 to 600000, not "99"`],
  DRAIN_NOTICE_MS: ['soon', `accepts ${MS} from 0 to 600000, not "soon"`],
  WORKER_SILENCE_MS: ['2999', `accepts ${MS} from 3000 to 3600000, not "2999"`],
  HOST: ['256.0.0.1', 'accepts an IP address or a host name, not "256.0.0.1"'],
  KV_PORT: ['65536', 'accepts a port from 0 to 65535; 0 takes any free one, not "65536"'],
  QUEUE_PORT: ['-1', 'accepts a port from 0 to 65535; 0 takes any free one, not "-1"'],
  MGMT_PORT: ['7300.5', 'accepts a port from 0 to 65535; 0 takes any free one, not "7300.5"'],
  RESP_PORT: ['off', 'accepts a port from 0 to 65535; 0 turns it off, not "off"'],
  RESP_WORKER_PORT: ['70000', 'accepts a port from 1 to 65535, not "70000"'],
  RESP_ANNOUNCE_HOST: ['redis:6380', 'accepts an IP address or a host name, not "redis:6380"'],
  RESP_ANNOUNCE_PORT: ['0', 'accepts a port from 1 to 65535, not "0"'],
  METRICS_PORT: [' 7400', 'accepts a port from 0 to 65535; 0 takes any free one, not " 7400"'],
  PUBLIC_URL_KV: ['kv.example.com', `accepts ${URL_ACCEPTS}`],
  PUBLIC_URL_QUEUE: ['https://q.example.com/?a=b', `accepts ${URL_ACCEPTS}`],
  PUBLIC_URL_MGMT: ['ftp://m.example.com', `accepts ${URL_ACCEPTS}`],
  TLS_CERT: ['a\nb', 'accepts the path of a PEM file with the certificate chain, not "a\\nb"'],
  TLS_KEY: ['a\tb', 'accepts the path of a PEM file with the private key, not "a\\tb"'],
  TRUSTED_PROXIES: ['10.0.0.0/33', 'accepts IP addresses or CIDR ranges, separated by commas, not "10.0.0.0/33"'],
  WIRE_ALIAS: [
    'Acme:acmeq',
    'accepts three words as Header:queue:kv, or four with :partner, of letters and digits, beginning with a letter, not "Acme:acmeq"',
  ],
  WIRE_ALIAS_DELIVER: ['neutral', 'accepts alias or both, not "neutral"'],
  VECTOR_PRECISION: ['F64', 'accepts F32 or F16 or I8, not "F64"'],
  HTTP_HEADERS_TIMEOUT_MS: ['10s', `accepts ${MS} from 100 to 600000, not "10s"`],
  HTTP_REQUEST_TIMEOUT_MS: ['0', `accepts ${MS} from 100 to 3600000, not "0"`],
  HTTP_CONNECTIONS_CHECK_MS: ['1', `accepts ${MS} from 50 to 60000, not "1"`],
  HTTP_KEEP_ALIVE_MS: ['soon', `accepts ${MS} from 100 to 3600000, not "soon"`],
  HTTP_MAX_CONNECTIONS: ['0', 'accepts a whole number from 1 to 1000000, not "0"'],
  HTTP_MAX_CONNECTIONS_PER_ADDRESS: ['0', 'accepts a whole number from 1 to 1000000, not "0"'],
  HTTP_MAX_BODY_BYTES: ['2GiB', `accepts ${BYTES} from 1KiB to 1GiB, not "2GiB"`],
  NATS_URL: [
    'nats://user:pw@10.0.0.1:4222',
    'accepts nats://host:port or tls://host:port, several separated by commas, without user and password',
  ],
  NATS_CREDS: ['a\0b', 'accepts the path of a creds file, not "a\\u0000b"'],
  NATS_USER: ['a\nb', `accepts ${LINE}, not "a\\nb"`],
  NATS_PASSWORD: ['a\nb', `accepts ${LINE}`],
  NATS_TOKEN: ['a\nb', `accepts ${LINE}`],
  NATS_NKEY: [`SU${'A'.repeat(56)}`, 'accepts the path of a file with an nkey seed'],
  NATS_TLS_CA: ['a\nb', 'accepts the path of a PEM file with the authorities to trust, not "a\\nb"'],
  NATS_TLS_CERT: ['a\nb', 'accepts the path of a PEM file with the client certificate, not "a\\nb"'],
  NATS_TLS_KEY: ['a\nb', 'accepts the path of a PEM file with its private key, not "a\\nb"'],
  NATS_SYS_CREDS: ['a\nb', 'accepts the path of a creds file of the system account, not "a\\nb"'],
  NATS_SYS_NKEY: [`SU${'A'.repeat(56)}`, 'accepts the path of a file with an nkey seed'],
  NATS_SYS_USER: ['a\nb', `accepts ${LINE}, not "a\\nb"`],
  NATS_SYS_PASSWORD: ['a\nb', `accepts ${LINE}`],
  NATS_SERVER: ['a\nb', 'accepts the path of a nats-server binary, not "a\\nb"'],
  NATS_PREFIX: ['a.b', 'accepts up to 32 letters, digits, - and _, not "a.b"'],
  NATS_APPEND_TIMEOUT_MS: ['99', `accepts ${MS} from 100 to 60000, not "99"`],
  AUDIT_DIR: ['a\nb', 'accepts the path of a directory, not "a\\nb"'],
  DATA_DIR: ['a\nb', 'accepts the path of a directory, not "a\\nb"'],
  SEAL_KEY_FILE: ['a\nb', 'accepts the path of a file, not "a\\nb"'],
  FSYNC: ['never', 'accepts always or interval, not "never"'],
  REPLICAS: ['2', 'accepts 1 or 3, not "2"'],
  ALLOW_UNSYNCED: ['yes', 'accepts true or false, not "yes"'],
  KV_SHARDS: ['0', 'accepts a whole number from 1 to 256, not "0"'],
  QUEUE_SHARDS: ['257', 'accepts a whole number from 1 to 256, not "257"'],
  AUDIT_RETENTION: [
    '7d,8d',
    'accepts an age (7d, 12h, 30m, 90s), bytes a shard (10GiB), or both as 7d,10GiB, not "7d,8d"',
  ],
  JOURNAL_TOTAL_BYTES: ['1', `accepts ${BYTES} from 1MiB to 1048576GiB, not "1"`],
  SNAPSHOT_ENTRIES: ['9', 'accepts a whole number from 10 to 10000000, not "9"'],
  STATISTICS_SNAPSHOT_BYTES: ['1', `accepts ${BYTES} from 4KiB to 16GiB, not "1"`],
  SNAPSHOT_BYTES: ['1', `accepts ${BYTES} from 4KiB to 16GiB, not "1"`],
  DISK_RESERVE_BYTES: ['2TiB', `accepts ${BYTES} from 0 to 1024GiB, not "2TiB"`],
  SESSION_HEARTBEAT_MS: ['19', `accepts ${MS} from 20 to 60000, not "19"`],
  LEASE_RENEWAL_MS: ['49', `accepts ${MS} from 50 to 60000, not "49"`],
  READ_LEASE_MS: ['99', `accepts ${MS} from 100 to 60000, not "99"`],
  READ_LEASE_MARGIN_MS: ['9', `accepts ${MS} from 10 to 60000, not "9"`],
  TAKEOVER_SILENCE_MS: ['149', `accepts ${MS} from 150 to 600000, not "149"`],
  PLACEMENT_LOAD_MS: ['1m', `accepts ${MS} from 0 to 86400000, not "1m"`],
  CLOCK_JUMP_MS: ['49', `accepts ${MS} from 50 to 60000, not "49"`],
  CLOCK_SKEW_MS: ['99', `accepts ${MS} from 100 to 600000, not "99"`],
  CLOCK_TRUST: ['me', 'accepts compared or machine, not "me"'],
  CONTROL_STALE_MS: ['299', `accepts ${MS} from 300 to 60000, not "299"`],
  REQUEST_HOLD_MS: ['60001', `accepts ${MS} from 0 to 60000, not "60001"`],
  COMMAND_MEMORY_MS: ['999', `accepts ${MS} from 1000 to 86400000, not "999"`],
  READS: ['fast', 'accepts lease or barrier, not "fast"'],
  MAX_ANSWER_BYTES: ['63KiB', `accepts ${BYTES} from 64KiB to 4GiB, not "63KiB"`],
  MAX_COMMAND_BYTES: ['10MB', `accepts ${BYTES} from 1KiB to 512MiB, not "10MB"`],
  MAX_REQUESTS_PER_DAY: ['none', 'accepts a whole number from 0 to 1000000000000, not "none"'],
  MAILBOX_COMMANDS: ['0', 'accepts a whole number from 1 to 10000000, not "0"'],
  MAILBOX_BYTES: ['0', `accepts ${BYTES} from 1KiB to 16GiB, not "0"`],
  TURN_COMMANDS: ['1e3', 'accepts a whole number from 1 to 100000, not "1e3"'],
  TURN_BYTES: ['65MiB', `accepts ${BYTES} from 1KiB to 64MiB, not "65MiB"`],
  TURN_MS: ['21', `accepts ${MS} from 1 to 20, not "21"`],
  COMMAND_MS: ['0', `accepts ${MS} from 1 to 600000, not "0"`],
  SCRIPT_MS: ['0', `accepts ${MS} from 1 to 600000, not "0"`],
  SCRIPT_HOLD_MS: ['10001', `accepts ${MS} from 1 to 10000, not "10001"`],
  ENTRY_CHUNK_BYTES: ['1MiB', `accepts ${BYTES} from 1KiB to 960KiB, not "1MiB"`],
  BUS_MESSAGE_BYTES: ['2GiB', `accepts ${BYTES} from 1KiB to 1GiB, not "2GiB"`],
  EXPIRY_KEYS: ['0', 'accepts a whole number from 1 to 100000, not "0"'],
  PORTAL_FRAME_ANCESTORS: [
    'app.example',
    'accepts origins separated by commas, such as https://app.example or https://*.app.example, not "app.example"',
  ],
  PORTAL_FILE: ['a\nb', 'accepts the path of a JSON file with title, colours, logo and words, not "a\\nb"'],
  ALLOW_PRIVATE_DESTINATIONS: ['1', 'accepts true or false, not "1"'],
  DESTINATION_ALLOW: [
    '10.0.0.0/8',
    'accepts cidr:port pairs separated by commas, such as 10.1.0.0/16:443 or [fd00::/8]:*, not "10.0.0.0/8"',
  ],
  DELIVERY_CONCURRENCY: ['0', 'accepts a whole number from 1 to 100000, not "0"'],
  DELIVERY_PER_ORIGIN: ['many', 'accepts a whole number from 1 to 100000, not "many"'],
  DELIVERY_CONNECT_TIMEOUT_MS: ['9', `accepts ${MS} from 10 to 600000, not "9"`],
  DELIVERY_LOOKUP_TIMEOUT_MS: ['9', `accepts ${MS} from 10 to 600000, not "9"`],
  DELIVERY_LOOKUPS: ['0', 'accepts a whole number from 1 to 100000, not "0"'],
  DELIVERY_NAME_SERVERS: [
    '10.0.0.2:0',
    'accepts IP addresses separated by commas, with a port where it is not 53, such as 10.0.0.2 or [fd00::2]:5353, not "10.0.0.2:0"',
  ],
  DELIVERY_OVERHEAD_BYTES: ['32KiB', `accepts ${BYTES} from 64KiB to 1GiB, not "32KiB"`],
  DELIVERY_ANSWER_BYTES: ['1KiB', `accepts ${BYTES} from 64KiB to 64GiB, not "1KiB"`],
  QUEUE_BODY_MEMORY_BYTES: ['1KiB', `accepts ${BYTES} from 64KiB to 64GiB, not "1KiB"`],
  QUEUE_MAX_BYTES: ['1KiB', `accepts ${BYTES} from 64KiB to 1024GiB, not "1KiB"`],
  QUEUE_MAX_MESSAGES: ['0', 'accepts a whole number from 1 to 1000000000, not "0"'],
  QUEUE_MEMORY_BYTES: ['1KiB', `accepts ${BYTES} from 16MiB to 1024GiB, not "1KiB"`],
  TRIGGER_MEMORY_BYTES: ['1KiB', `accepts ${BYTES} from 1MiB to 1024GiB, not "1KiB"`],
  QUEUE_TELL_AFTER_MS: ['49', `accepts ${MS} from 50 to 60000, not "49"`],
  WORKFLOW_INLINE_BYTES: ['17MiB', `accepts ${BYTES} from 1 to 16MiB, not "17MiB"`],
  DELIVERED_ANSWER_BYTES: ['65KiB', `accepts ${BYTES} from 0 to 64KiB, not "65KiB"`],
  DELIVERED_ANSWER_RETENTION_MS: ['3d', `accepts ${MS} from 1000 to 31622400000, not "3d"`],
  LOG_RETENTION_MS: ['14d', `accepts ${MS} from 1000 to 31622400000, not "14d"`],
  QUEUE_PRICE_CENTS: ['1.5', 'accepts a whole number from 0 to 100000000, not "1.5"'],
  KV_PRICE_CENTS: ['-1', 'accepts a whole number from 0 to 100000000, not "-1"'],
  SEARCH_PRICE_CENTS: ['-1', 'accepts a whole number from 0 to 100000000, not "-1"'],
  STORAGE_PRICE_CENTS: ['-1', 'accepts a whole number from 0 to 100000000, not "-1"'],
  BANDWIDTH_PRICE_CENTS: ['-1', 'accepts a whole number from 0 to 100000000, not "-1"'],
  FREE_STORAGE_BYTES: ['2TiB', `accepts ${BYTES} from 0 to 1024GiB, not "2TiB"`],
  FREE_BANDWIDTH_BYTES: ['2TiB', `accepts ${BYTES} from 0 to 1024GiB, not "2TiB"`],
  BACKUP_TO: ['backups', 'accepts s3://bucket/prefix, or the absolute path of a directory, not "backups"'],
  BACKUP_ROUND_MS: ['99', 'accepts a whole number of milliseconds from 100 to 3600000, not "99"'],
  BACKUP_FULL_MS: ['999', 'accepts a whole number of milliseconds from 1000 to 31622400000, not "999"'],
  BACKUP_KEEP_MS: ['999', 'accepts a whole number of milliseconds from 1000 to 316224000000, not "999"'],
  BACKUP_S3_ENDPOINT: ['s3.example.com', `accepts ${URL_ACCEPTS}`],
  BACKUP_S3_REGION: ['EU 1', 'accepts the name of a region, not "EU 1"'],
  BACKUP_S3_KEY_ID: ['two words', `accepts ${TOKEN}`],
  BACKUP_S3_SECRET: ['two words', `accepts ${TOKEN}`],
  BACKUP_S3_LOCK: ['on', 'accepts off or governance or compliance, not "on"'],
  ALERT_LOOK_MS: ['99', 'accepts a whole number of milliseconds from 100 to 600000, not "99"'],
  SMTP_URL: ['mail.example', 'accepts smtp:// or smtps:// and a host, with user and password if needed'],
  SMTP_FROM: ['ops', 'accepts an email address, or a name and an address in angle brackets, not "ops"'],
  OTLP_ENDPOINT: ['collector:4318', `accepts ${URL_ACCEPTS}`],
  EMBEDDINGS_URL: ['localhost:11434', 'accepts http:// or https:// and a host, without user, password, query or #'],
  ENCRYPTION_KEY: ['short', 'accepts 32 bytes in base64 or hexadecimal'],
  ENCRYPTION_NEXT_KEY: ['short', 'accepts 32 bytes in base64 or hexadecimal'],
  EMBEDDINGS_KEY: ['a b', `accepts ${TOKEN}`],
  EMBEDDINGS_MODEL: ['x'.repeat(101), `accepts 1 to 100 characters, not "${'x'.repeat(60)}…"`],
  OTLP_HEADERS: ['authorization', 'accepts name=value pairs of headers, separated by commas'],
  TRACE_RATIO: ['1%', 'accepts a number from 0 to 1, not "1%"'],
  REGION: ['moon', 'accepts EU-CENTRAL-1 or US-EAST-1, not "moon"'],
  SIGN_IN_FAILURES: ['some', 'accepts a whole number from 0 to 1000000, not "some"'],
  READ_ONLY_KEYS_SEE_SECRETS: ['maybe', 'accepts true or false, not "maybe"'],
  SIGN_IN_PROVIDERS: ['{}', 'accepts a JSON list of objects with name, issuer, clientId and roles'],
  SIGN_IN_CHECK_MS: ['99', 'accepts a whole number of milliseconds from 100 to 60000, not "99"'],
  CONSOLE_SESSION_MS: ['59999', 'accepts a whole number from 60000 to 2592000000, not "59999"'],
  SECRET_MIN_CHARACTERS: ['513', 'accepts a whole number from 0 to 512, not "513"'],
  METRICS_TOKEN: ['a b', `accepts ${TOKEN}`],
  KV_TOKEN: ['two words', `accepts ${TOKEN}`],
  KV_READONLY_TOKEN: ['naïve', `accepts ${TOKEN}`],
  KV_PASSWORD: ['a\nb', `accepts ${LINE}`],
  QUEUE_READONLY_TOKEN: ['a b', `accepts ${TOKEN}`],
  QUEUE_TOKEN: ['a b', 'accepts 1 to 512 visible ASCII characters, best base64 of JSON with a text UserID'],
  MGMT_EMAIL: ['nobody', 'accepts an email address, not "nobody"'],
  MGMT_KEY: ['a b', `accepts ${TOKEN}`],
  SIGNING_KEY_CURRENT: ['x'.repeat(513), `accepts ${TOKEN}`],
  SIGNING_KEY_NEXT: ['a b', `accepts ${TOKEN}`],
};

describe('configuration: loading', () => {
  it('starts without a single variable', () => {
    const config = load();
    expect(config.endpoints).to.include({ host: '127.0.0.1', kvPort: 7100, queuePort: 7200, mgmtPort: 7300 });
    expect(config.storage).to.include({ dataDir: '.millrace', sealKeyFile: '.millrace/seal.key', kvShards: 4 });
    expect(config.ownership).to.include({ sessionHeartbeatMs: 500, readLeaseMs: 2000, takeoverSilenceMs: 3000 });
    expect(config.process.roles).to.deep.equal(['edge', 'kv', 'queue', 'projection']);
    expect(config.isEmbedded).to.equal(true);
  });

  it('refuses a password in a URL, and does not print it', () => {
    const refused = lineOf({ MILLRACE_PUBLIC_URL_KV: 'http://me:pw@kv.example.com' });
    expect(refused).to.contain(`MILLRACE_PUBLIC_URL_KV accepts ${URL_ACCEPTS}`).and.not.contain('pw@');
  });

  it('refuses a given secret below the minimum length, and prints no part of it', () => {
    for (const name of [
      'KV_TOKEN',
      'KV_READONLY_TOKEN',
      'KV_PASSWORD',
      'QUEUE_TOKEN',
      'QUEUE_READONLY_TOKEN',
      'MGMT_KEY',
      'METRICS_TOKEN',
    ]) {
      const variable = `MILLRACE_${name}`;
      const line = `${variable} must not be shorter than 12 characters (MILLRACE_SECRET_MIN_CHARACTERS)`;
      expect(lineOf({ [variable]: 'elevenchars' })).to.equal(line);
      expect(() => load({ [variable]: 'twelve-chars' })).not.to.throw();
      expect(() => load({ [variable]: 'x', MILLRACE_SECRET_MIN_CHARACTERS: '0' })).not.to.throw();
    }
  });

  it('has a test case with a bad value for every setting', () => {
    expect(SETTINGS.map(({ variable }) => variable).sort()).to.deep.equal(
      Object.keys(BAD)
        .map((name) => `MILLRACE_${name}`)
        .sort(),
    );
  });

  for (const [name, [value, line]] of Object.entries(BAD)) {
    it(`refuses a bad MILLRACE_${name} in one line with the accepted values`, () => {
      expect(lineOf({ [`MILLRACE_${name}`]: value })).to.equal(`MILLRACE_${name} ${line}`);
    });
  }

  it('keeps each error on one short line, for any value', () => {
    const line = lineOf({ MILLRACE_LOG_LEVEL: `a\r\nb\u2028${'x'.repeat(5000)}` });
    expect(line).to.not.match(/[\r\n]/);
    expect(line.length).to.be.below(200);
  });

  it('counts an empty variable as not set', () => {
    expect(load({ MILLRACE_KV_PORT: '', MILLRACE_KV_TOKEN: '' }).endpoints.kvPort).to.equal(7100);
  });

  it('has a valid default for every setting', () => {
    expect(() => load()).to.not.throw();
    expect(() => load(REMOTE)).to.not.throw();
  });

  it('returns a deeply frozen object', () => {
    const config = load({ MILLRACE_DESTINATION_ALLOW: '10.0.0.0/8:443' });
    const parts: unknown[] = [config, ...Object.values(config), ...config.destinations.destinationAllow];
    for (const part of [...parts, config.process.roles, config.storage.auditRetention]) {
      expect(Object.isFrozen(part), inspect(part)).to.equal(true);
    }
    expect(() => Object.assign(config.endpoints, { kvPort: 1 })).to.throw(TypeError);
  });

  it('keeps the defaults unchanged when one load has other values', () => {
    load({ MILLRACE_ROLES: 'edge', MILLRACE_AUDIT_RETENTION: '1d' });
    expect(load().process.roles).to.have.length(4);
    expect(load().storage.auditRetention).to.deep.equal({ ageMs: 604_800_000, bytes: 10_737_418_240 });
  });
});

describe('configuration: values', () => {
  it('reads lists of addresses, destinations and servers', () => {
    const config = load({
      MILLRACE_NATS_URL: '10.0.0.1:4222, tls://nats.example.com:4222',
      MILLRACE_TRUSTED_PROXIES: '127.0.0.1,fd00::/8',
      MILLRACE_DESTINATION_ALLOW: '10.1.0.0/16:443,[fd00::/8]:*',
    });
    expect(config.nats.natsUrl).to.deep.equal(['nats://10.0.0.1:4222', 'tls://nats.example.com:4222']);
    expect(config.endpoints.trustedProxies).to.deep.equal([
      { address: '127.0.0.1', prefixBits: 32 },
      { address: 'fd00::', prefixBits: 8 },
    ]);
    expect(config.destinations.destinationAllow).to.deep.equal([
      { address: '10.1.0.0', prefixBits: 16, port: 443 },
      { address: 'fd00::', prefixBits: 8, port: undefined },
    ]);
  });

  it('reads name servers with and without a port', () => {
    const servers = load({ MILLRACE_DELIVERY_NAME_SERVERS: '10.0.0.2,127.0.0.1:5353,[fd00::2]:54,fd00::3' });
    expect(servers.delivery.deliveryNameServers).to.deep.equal([
      { address: '10.0.0.2', port: 53 },
      { address: '127.0.0.1', port: 5353 },
      { address: 'fd00::2', port: 54 },
      { address: 'fd00::3', port: 53 },
    ]);
  });

  it('accepts a single bound of the audit retention', () => {
    expect(load({ MILLRACE_AUDIT_RETENTION: '12h' }).storage.auditRetention).to.deep.equal({
      ageMs: 43_200_000,
      bytes: undefined,
    });
  });

  it('reads a wire alias as its words', () => {
    expect(load({ MILLRACE_WIRE_ALIAS: 'Acme:acmeq:acmekv:host' }).endpoints.wireAlias?.partnerWord).to.equal('host');
    expect(load({ MILLRACE_WIRE_ALIAS: 'Acme:acmeq:acmekv' }).endpoints.wireAlias).to.deep.equal({
      headerWord: 'Acme',
      queueWord: 'acmeq',
      kvWord: 'acmekv',
    });
    expect(load({ MILLRACE_WIRE_ALIAS: 'Acme:AcmeQ:acmekv' }).endpoints.wireAlias?.queueWord).to.equal('AcmeQ');
  });

  it('allows private destinations by default only when embedded and reachable from this host alone', () => {
    const allowed = (env: Env) => load(env).destinations.allowPrivateDestinations;
    expect(allowed({})).to.equal(true);
    expect(allowed({ MILLRACE_HOST: '::1' })).to.equal(true);
    expect(allowed({ MILLRACE_HOST: '0.0.0.0' })).to.equal(false);
    expect(allowed({ MILLRACE_HOST: '127.evil.example' })).to.equal(false);
    expect(allowed(REMOTE)).to.equal(false);
    for (const face of ['KV', 'QUEUE', 'MGMT']) {
      expect(allowed({ [`MILLRACE_PUBLIC_URL_${face}`]: 'https://here.example' })).to.equal(false);
    }
    expect(allowed({ MILLRACE_TRUSTED_PROXIES: '10.0.0.1' })).to.equal(false);
    const told = { MILLRACE_HOST: '0.0.0.0', MILLRACE_ALLOW_PRIVATE_DESTINATIONS: 'true' };
    expect(allowed(told), 'an operator decides').to.equal(true);
  });

  it('prints the reason for the default of private destinations', () => {
    const line = (env: Env) => /^MILLRACE_ALLOW_PRIVATE_DESTINATIONS.*$/m.exec(describeConfig(load(env)))?.[0];
    const name = 'MILLRACE_ALLOW_PRIVATE_DESTINATIONS';
    expect(line({})).to.equal(`${name}=true  # default: only this machine can reach this process`);
    expect(line(REMOTE)).to.equal(`${name}=false  # default: MILLRACE_NATS_URL is set`);
    const exposed = `${name}=false  # default: others may reach this process:`;
    expect(line({ MILLRACE_HOST: '0.0.0.0' })).to.equal(`${exposed} MILLRACE_HOST`);
    const publicUrl = { MILLRACE_PUBLIC_URL_QUEUE: 'https://q.example' };
    expect(line(publicUrl)).to.equal(`${exposed} MILLRACE_PUBLIC_URL_QUEUE`);
    expect(line({ MILLRACE_TRUSTED_PROXIES: '::1' })).to.equal(`${exposed} MILLRACE_TRUSTED_PROXIES`);
    expect(line({ MILLRACE_HOST: '0.0.0.0', [name]: 'true' })).to.equal(`${name}=true`);
  });

  it('has more shards in a cluster, and the seal key in the data directory', () => {
    const { storage } = load({ ...REMOTE, MILLRACE_DATA_DIR: '/var/lib/mill' });
    expect(storage).to.include({ kvShards: 16, queueShards: 16, sealKeyFile: '/var/lib/mill/seal.key' });
  });

  it('has more shards with several workers, each of which has its part of the connections', () => {
    const config = load({ MILLRACE_WORKERS: '3', MILLRACE_HTTP_MAX_CONNECTIONS: '100' });
    expect(config.storage).to.include({ kvShards: 16, queueShards: 16 });
    expect(httpEndpointOptionsOf(config).limits.maxConnections).to.equal(34);
    expect(nativeBoundsOf(config).maxConnections).to.equal(34);
  });

  it('accepts the documented minimums of all times together', () => {
    const env = {
      MILLRACE_SESSION_HEARTBEAT_MS: '20',
      MILLRACE_LEASE_RENEWAL_MS: '50',
      MILLRACE_READ_LEASE_MS: '100',
      MILLRACE_READ_LEASE_MARGIN_MS: '10',
      MILLRACE_TAKEOVER_SILENCE_MS: '150',
      MILLRACE_CLOCK_JUMP_MS: '50',
      MILLRACE_CLOCK_SKEW_MS: '100',
      MILLRACE_CONTROL_STALE_MS: '300',
      MILLRACE_REQUEST_HOLD_MS: '0',
    };
    expect(load(env).ownership.takeoverSilenceMs).to.equal(150);
  });
});

describe('configuration: settings that depend on each other', () => {
  const cases: [string, Env, string][] = [
    [
      'a TLS key without a certificate',
      { MILLRACE_TLS_KEY: 'k.pem' },
      'MILLRACE_TLS_KEY is set without MILLRACE_TLS_CERT: set both or neither',
    ],
    [
      'two kinds of NATS credentials',
      { ...REMOTE, MILLRACE_NATS_TOKEN: 't', MILLRACE_NATS_CREDS: 'c' },
      'MILLRACE_NATS_CREDS and MILLRACE_NATS_TOKEN are both set: set only one way to sign in',
    ],
    [
      'NATS credentials without a NATS URL',
      { MILLRACE_NATS_CREDS: 'c' },
      'MILLRACE_NATS_CREDS is set without MILLRACE_NATS_URL: the embedded server generates its own credentials, so remove one or set the other',
    ],
    [
      'three replicas on the embedded server',
      { MILLRACE_REPLICAS: '3' },
      'MILLRACE_REPLICAS accepts 1 without MILLRACE_NATS_URL: the embedded server is a single one',
    ],
    [
      'one port for two endpoints',
      { MILLRACE_QUEUE_PORT: '7100' },
      'MILLRACE_QUEUE_PORT and MILLRACE_KV_PORT are both 7100: each endpoint needs its own port',
    ],
    [
      'a read lease that outlives the takeover',
      { MILLRACE_READ_LEASE_MS: '3000' },
      'MILLRACE_READ_LEASE_MS is 3000, which must be below MILLRACE_TAKEOVER_SILENCE_MS (3000)',
    ],
    [
      'a renewal later than the read lease',
      { MILLRACE_LEASE_RENEWAL_MS: '2000' },
      'MILLRACE_LEASE_RENEWAL_MS is 2000, which must be below MILLRACE_READ_LEASE_MS (2000)',
    ],
    [
      'too few heartbeats before a takeover',
      { MILLRACE_SESSION_HEARTBEAT_MS: '1500' },
      'MILLRACE_SESSION_HEARTBEAT_MS is 1500, which must be below half of MILLRACE_TAKEOVER_SILENCE_MS (1500)',
    ],
    [
      'a command larger than a body',
      { MILLRACE_HTTP_MAX_BODY_BYTES: '1MiB' },
      'MILLRACE_MAX_COMMAND_BYTES is 10485760, which must not be above MILLRACE_HTTP_MAX_BODY_BYTES (1048576)',
    ],
  ];
  for (const [mistake, env, line] of cases) {
    it(`refuses ${mistake}`, () => expect(lineOf(env)).to.equal(line));
  }

  it('allows 0, a free port, for several ports', () => {
    expect(
      load({ MILLRACE_KV_PORT: '0', MILLRACE_QUEUE_PORT: '0', MILLRACE_RESP_PORT: '0' }).endpoints.kvPort,
    ).to.equal(0);
  });
});

describe('configuration: secrets', () => {
  const CANARY = 'canary-7f3a9c-do-not-print';
  const hidden = SETTINGS.filter(({ kind }) => kind.read('x') instanceof Secret).map(({ variable }) => variable);

  it('include all tokens, passwords and keys', () => {
    expect(hidden).to.have.members(
      [
        'KV_TOKEN',
        'KV_READONLY_TOKEN',
        'KV_PASSWORD',
        'QUEUE_READONLY_TOKEN',
        'QUEUE_TOKEN',
        'MGMT_KEY',
        'SIGNING_KEY_CURRENT',
        'METRICS_TOKEN',
        'SIGNING_KEY_NEXT',
        'NATS_PASSWORD',
        'NATS_TOKEN',
        'NATS_SYS_PASSWORD',
        'ENCRYPTION_KEY',
        'ENCRYPTION_NEXT_KEY',
        'EMBEDDINGS_KEY',
        'OTLP_HEADERS',
        'SMTP_URL',
        'BACKUP_S3_KEY_ID',
        'BACKUP_S3_SECRET',
        'SIGN_IN_PROVIDERS',
      ].map((name) => `MILLRACE_${name}`),
    );
  });

  for (const variable of hidden) {
    const canaryKey = Buffer.from(CANARY.padEnd(32)).subarray(0, 32).toString('base64');
    const wrapped: Record<string, string> = {
      MILLRACE_ENCRYPTION_KEY: canaryKey,
      MILLRACE_ENCRYPTION_NEXT_KEY: canaryKey,
      MILLRACE_OTLP_HEADERS: `authorization=${CANARY}`,
      MILLRACE_SMTP_URL: `smtp://ops:${CANARY}@mail.example`,
      MILLRACE_SIGN_IN_PROVIDERS: providersWith(CANARY),
    };
    const given = wrapped[variable] ?? CANARY;
    const envWith = (value: string): Env => ({
      ...REMOTE,
      [variable]: value,
      ...(variable === 'MILLRACE_NATS_PASSWORD' && { MILLRACE_NATS_USER: 'me' }),
      ...(variable === 'MILLRACE_NATS_SYS_PASSWORD' && { MILLRACE_NATS_SYS_USER: 'me' }),
      ...(variable === 'MILLRACE_SMTP_URL' && { MILLRACE_SMTP_FROM: 'ops@example.com' }),
      ...(variable === 'MILLRACE_BACKUP_S3_KEY_ID' && { MILLRACE_BACKUP_S3_SECRET: 'other' }),
      ...(variable === 'MILLRACE_BACKUP_S3_SECRET' && { MILLRACE_BACKUP_S3_KEY_ID: 'other' }),
    });
    const revealedIn = (config: object) =>
      Object.values(config)
        .flatMap((section) => Object.values(section as object))
        .filter((value) => value instanceof Secret)
        .map((secret) => secret.reveal());

    it(`read ${variable} from a file, another variable and a command`, () => {
      for (const place of ['file:/run/secret', 'env:OTHER', 'exec:vault kv get secret']) {
        const asked: string[] = [];
        const { config } = loadConfig(envWith(place), (reference) => {
          asked.push(`${reference.kind}:${reference.place}`);
          return given;
        });
        expect(asked).to.deep.equal([place]);
        expect(revealedIn(config)).to.include(given);
      }
      expect(() =>
        loadConfig(envWith('file:/none'), () => {
          throw new Error('there is no such file');
        }),
      ).to.throw(`${variable} names a secret that cannot be read: there is no such file`);
    });

    it(`never print ${variable}, although it can be revealed`, () => {
      const env = envWith(given);
      const { config, warnings } = loadConfig(env);
      const printed = [
        describeConfig(config),
        JSON.stringify(config),
        inspect(config, { depth: 9, showHidden: true }),
        ...warnings,
      ];
      expect(printed.join('\n')).to.not.include(CANARY).and.not.include(canaryKey);
      expect(describeConfig(config)).to.include(`\n${variable}=********\n`);
      expect(revealedIn(config)).to.include(given);
    });

    it(`never print ${variable} in an error either`, () => {
      expect(lineOf({ ...REMOTE, [variable]: `${CANARY}\n` })).to.not.include('canary');
    });
  }
});

describe('configuration: secrets that are stored elsewhere', () => {
  const PLACES: Record<string, string> = {
    'file:/run/secrets/token': 'text-of-the-file',
    'env:OTHER': 'text-of-the-variable',
    'exec:vault kv get -field=token kv/millrace': 'text-of-the-service',
  };
  const source = ({ kind, place }: SecretReference) => {
    const text = PLACES[`${kind}:${place}`];
    if (text === undefined) throw new Error('there is no such file');
    return text;
  };

  for (const [reference, text] of Object.entries(PLACES)) {
    it(`are read from their place: MILLRACE_KV_TOKEN=${reference}`, () => {
      const { config } = loadConfig({ MILLRACE_KV_TOKEN: reference }, source);
      expect(config.firstStart.kvToken?.reveal()).to.equal(text);
    });
  }

  it('must have a text that the setting accepts, which the error does not show', () => {
    const env = { MILLRACE_KV_TOKEN: 'file:/t' };
    expect(() => loadConfig(env, () => 'two\nlines')).to.throw(`MILLRACE_KV_TOKEN accepts ${TOKEN}`);
    expect(() => loadConfig(env, () => 'two\nlines')).to.not.throw('lines');
  });

  it('name their variable and the reason when they cannot be read', () => {
    expect(() => loadConfig({ MILLRACE_METRICS_TOKEN: 'file:/none' }, source)).to.throw(
      'MILLRACE_METRICS_TOKEN names a secret that cannot be read: there is no such file',
    );
  });

  it('stay references for a caller without a source, and are masked', () => {
    const { config } = loadConfig({ MILLRACE_KV_TOKEN: 'exec:a command with spaces' });
    expect(config.firstStart.kvToken?.isReference).to.equal(true);
    expect(describeConfig(config)).to.include('\nMILLRACE_KV_TOKEN=********\n');
  });

  it('are no values of other settings', () => {
    expect(() => loadConfig({ MILLRACE_KV_PORT: 'env:PORT' }, source)).to.throw('not "env:PORT"');
  });
});

/** A valid list with one identity provider; its client has this secret. */
function providersWith(clientSecret: string): string {
  const roles = [{ group: '*', role: 'dev' }];
  return JSON.stringify([{ name: 'sso', issuer: 'https://id.example', clientId: 'm', clientSecret, roles }]);
}
