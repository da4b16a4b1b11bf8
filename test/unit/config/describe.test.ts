/** Proves KI2. */
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { configText } from '../../../src/cli/config-command.js';
import { describeConfig, loadConfig, SETTINGS, settingsPage } from '../../../src/config/index.js';

function described(env: Record<string, string>): string[] {
  return describeConfig(loadConfig(env).config).trimEnd().split('\n');
}

describe('configuration: description', () => {
  it('has one line for each setting, in the order of the schema', () => {
    const names = described({}).map((line) => /^(?:# )?(MILLRACE_\w+)=/.exec(line)?.[1]);
    expect(names).to.deep.equal(SETTINGS.map(({ variable }) => variable));
  });

  it('marks defaults and unset settings', () => {
    const lines = described({ MILLRACE_KV_PORT: '7101', MILLRACE_QUEUE_PORT: '7200' });
    expect(lines).to.include('MILLRACE_KV_PORT=7101');
    expect(lines).to.include('MILLRACE_QUEUE_PORT=7200  # default');
    expect(lines).to.include('MILLRACE_KV_SHARDS=4  # default');
    expect(lines).to.include('MILLRACE_AUDIT_RETENTION=7d,10GiB  # default');
    expect(lines).to.include('# MILLRACE_KV_TOKEN=  # generated');
    expect(lines).to.include('# MILLRACE_TLS_CERT=  # not set');
  });

  it('can be read back to the same configuration', () => {
    const env = {
      MILLRACE_NATS_URL: 'nats://10.0.0.1:4222,tls://10.0.0.2:4222',
      MILLRACE_DESTINATION_ALLOW: '10.0.0.0/8:443,[fd00::/8]:*',
      MILLRACE_TRUSTED_PROXIES: '10.0.0.1',
      MILLRACE_WIRE_ALIAS: 'Acme:acmeq:acmekv',
      MILLRACE_AUDIT_RETENTION: '90s',
      MILLRACE_MAX_COMMAND_BYTES: '1025',
      MILLRACE_ROLES: 'edge,kv',
    };
    const lines = described(env).filter((line) => !line.startsWith('#'));
    const again = Object.fromEntries(
      lines.map((line) =>
        line
          .replace(/ {2}# default.*$/, '')
          .replaceAll("'", '')
          .split(/=(.*)/s, 2),
      ),
    );
    expect(described(again)).to.deep.equal(described(env));
  });

  it('quotes values for a shell', () => {
    expect(described({ MILLRACE_DATA_DIR: "my data's $HOME" })).to.include("MILLRACE_DATA_DIR='my data'\\''s $HOME'");
  });
});

describe('configuration: warnings', () => {
  const warningsOf = (env: Record<string, string>) => [...loadConfig(env).warnings];

  it('name a variable that is no setting, and the probably intended one', () => {
    expect(warningsOf({ MILLRACE_KV_PROT: '1', MILLRACE_FLUX: 'canary', OTHER: 'x' })).to.deep.equal([
      'MILLRACE_FLUX is not a setting and does nothing',
      'MILLRACE_KV_PROT is not a setting and does nothing; did you mean MILLRACE_KV_PORT?',
    ]);
  });

  it('do not name the addresses that `millrace env` exports', () => {
    expect(warningsOf({ MILLRACE_KV_URL: 'http://127.0.0.1:7100', MILLRACE_METRICS_URL: 'http://127.0.0.1:7400' })).to
      .be.empty;
  });

  it('report a queue token of another shape, in one line', () => {
    const [line, ...more] = warningsOf({ MILLRACE_QUEUE_TOKEN: 'a-token-that-is-not-json' });
    expect(line).to.match(/^MILLRACE_QUEUE_TOKEN is not base64 of JSON with a text UserID/);
    expect(more).to.deep.equal([]);
  });

  it('list the open ports where the host is not loopback', () => {
    expect(warningsOf({ MILLRACE_HOST: '127.0.0.2' })).to.deep.equal([]);
    expect(warningsOf({ MILLRACE_HOST: '0.0.0.0' }).map((line) => line.split(':')[0])).to.deep.equal([
      'MILLRACE_HOST is not loopback and MILLRACE_TLS_CERT is not set',
      'MILLRACE_HOST is not loopback and MILLRACE_METRICS_TOKEN is not set',
    ]);
    const closed = { MILLRACE_TLS_CERT: 'c.pem', MILLRACE_TLS_KEY: 'k.pem', MILLRACE_METRICS_TOKEN: 'for-the-scraper' };
    expect(warningsOf({ MILLRACE_HOST: '0.0.0.0', ...closed })).to.deep.equal([]);
  });

  it('are absent for a queue token of the documented shape', () => {
    const token = Buffer.from(JSON.stringify({ UserID: 'me', Password: 'pw' })).toString('base64');
    expect(warningsOf({ MILLRACE_QUEUE_TOKEN: token })).to.deep.equal([]);
  });

  it('report a short token that can be guessed', () => {
    expect(warningsOf({ MILLRACE_KV_TOKEN: 'thirteen-char' })).to.deep.equal([
      'MILLRACE_KV_TOKEN is shorter than 16 characters and can be guessed',
    ]);
  });
});

describe('configuration: the command', () => {
  it('prints the description, then the warnings as comments', () => {
    const printed = configText({ words: [], options: {}, flags: new Set() }, { MILLRACE_KV_PROT: '1' });
    expect(printed).to.match(/^MILLRACE_ROLES=edge,kv,queue,projection {2}# default\n/);
    expect(printed).to.match(/\n# warning: MILLRACE_KV_PROT is not a setting.*\n$/);
  });
});

describe('configuration: the page docs/settings.md', () => {
  it('equals the schema and the defaults; `make docs` writes it again', () => {
    expect(readFileSync('docs/settings.md', 'utf8')).to.equal(settingsPage());
  });

  it('has a row for every setting and no other', () => {
    const rows = [...settingsPage().matchAll(/^\| `(MILLRACE_\w+)` \|/gm)].map((match) => match[1]);
    expect(rows).to.deep.equal(SETTINGS.map(({ variable }) => variable));
  });
});
