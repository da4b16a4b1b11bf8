/**
 * ACL compared with redis-server: rules, their representation, permitted commands, and the categories of commands.
 * Proves ASE2.
 */
import { expect } from 'chai';
import { encodeReply } from '../../src/codec/resp/index.js';
import {
  allCommands,
  CATEGORIES,
  commandCatalogue,
  findCommand,
  READ,
  ruleNameOf,
  WRITE,
  wantedKeysOf,
} from '../../src/domain/kv/index.js';
import type { ByteString } from '../../src/kernel/index.js';
import { ALL_CASES } from '../spec/kv/cases/index.js';
import { AclStand } from '../support/acl-stand.js';
import { NOW, wordsOf } from '../support/kv-case.js';
import { Dice } from '../support/random-programs/dice.js';
import { REDIS_BINARIES, redisVersion, startRedis } from '../support/redis-server.js';
import { standOfAllTests } from '../support/stand-hooks.js';
import { bulks } from './pair.js';
import { SEED } from './seed.js';

const STEPS = Number(process.env.DIFFERENTIAL_STEPS ?? 3000);

const HASH = 'a'.repeat(64);
const RULES =
  'on off nopass resetpass reset sanitize-payload skip-sanitize-payload clearselectors allkeys resetkeys allchannels ' +
  'resetchannels allcommands nocommands ALLKEYS On +@all -@all ~* &* ~a* ~b? %R~c* %W~c* %RW~d %r~e %wR~f %~x %X~x %RR~x ' +
  `%R ~ & &x* &y &[ab] >pw >other <pw <nope #${HASH} !${HASH} #abc !abc +get +GET -get +set +client -client +client|list ` +
  '-client|id +client|nope +config|get -config|get +config +select|0 +select|1 -select|0 +select -select +get| + - +@ +nope ' +
  '+@read -@read +@write -@write +@string -@dangerous +@nope bogus (~s*) (+get) (+@read) (+get|x) (on) ( (bogus) ' +
  '+xinfo|stream -xinfo +xinfo +debug -debug +flushall -flushall +client|list|x +ping|x +hset -hset +@hash -@hash +object|help';
const COMMANDS =
  'get a|set a 1|get c1|set c1 1|append c1 x|mget a c1|client list|client id|config get x|select 0|select 1|publish x1 m|' +
  'subscribe y|psubscribe x*|psubscribe y*|ping|echo x|del a b1|exists c1|type c2|strlen zz|hset d f v|hget d f|' +
  'copy a d|rename c1 e|object encoding c1|keys *|flushall|ping x|auth x|get s1|set s1 v|nope|get|copy c1 c2|' +
  'xinfo stream a|expire c1 5|persist c1|ttl c1|sort a|dbsize|incr c1|getdel c1|setrange c1 0 x|lpush c1 x|lmove c1 c2 left right|' +
  'sinterstore d c1 c2|zadd c1 1 a|touch c1|unlink c1|msetnx c1 a|set c1 1 get|set c1 1 ex 10|bitfield c1 get u8 0|bitfield c1 set u8 0 1|sort c1 store c2|pfmerge c1 c2';

/** Families that no compared server has. */
const UNCOMPARED: readonly string[] = ['json', 'array', 'queue', 'vector', 'vector-set', 'vectorset', 'search'];

for (const binary of Object.values(REDIS_BINARIES)) {
  const version = redisVersion(binary);
  if (version === undefined) continue;
  const major = Number(version.split('.')[0]);

  describe(`differential: ACL of redis-server ${version}`, function () {
    this.timeout(60_000);
    const server = standOfAllTests(() => startRedis(binary));

    it('lists the same categories for every common command', async () => {
      const names = new Set(bulks(await server.client.call(['COMMAND', 'LIST'])));
      const withSubcommands = new Set<string>();
      for (const category of bulks(await server.client.call(['ACL', 'CAT']))) {
        for (const name of bulks(await server.client.call(['ACL', 'CAT', category]))) withSubcommands.add(name);
      }
      const ours = allCommands().map(ruleNameOf);
      const both = ours.filter((name) => names.has(name) || withSubcommands.has(name));
      const stand = await new AclStand().start();
      const differences: string[] = [];
      for (const category of CATEGORIES) {
        if (UNCOMPARED.includes(category)) continue;
        const theirs = new Set(bulks(await server.client.call(['ACL', 'CAT', category])));
        const own = new Set((await stand.run(['ACL', 'CAT', category])) as string[]);
        for (const name of both) {
          if (theirs.has(name) === own.has(name)) continue;
          if (major < 8 && NEWER.has(`${name} ${category}`)) continue;
          differences.push(`${name}: ${theirs.has(name) ? 'lacks' : 'should not be in'} @${category}`);
        }
      }
      expect(differences.join('\n')).to.equal('');
    });

    it(`shows and permits the same after random rules (DIFFERENTIAL_SEED=${SEED})`, async () => {
      if (major < 8) return; // 7.0 shows rules in another order, and no sanitize-payload.
      const stand = await new AclStand().start();
      const dice = new Dice(SEED);
      const known = new Set(bulks(await server.client.call(['COMMAND', 'LIST'])));
      const rules = RULES.split(' ').filter((rule) => {
        const [name = ''] = rule.slice(1).toLowerCase().split('|');
        return !/^[+-]/.test(rule) || !known.has(name) || commandCatalogue().find(name) !== undefined;
      });
      const commands = COMMANDS.split('|').filter((line) => line === 'nope' || isKnown(line.split(' ')));
      for (let step = 0; step < STEPS; step += 1) {
        const user = `u${dice.below(2)}`;
        const chosen = Array.from({ length: 1 + dice.below(3) }, () => dice.pick(rules));
        const each = [
          ['ACL', 'SETUSER', user, ...chosen],
          ['ACL', 'GETUSER', user],
          ['ACL', 'DRYRUN', user, ...dice.pick(commands).split(' ')],
          ['ACL', 'DRYRUN', user, ...dice.pick(commands).split(' ')],
        ];
        if (step % 20 === 0) each.push(['ACL', 'DELUSER', user, 'nobody'], ['ACL', 'GETUSER', user]);
        for (const words of each) {
          const ours = encodeReply(await stand.run(words));
          const theirs = await server.client.call(words);
          expect(ours, `${words.join(' ')}, step ${step}; ${await stand.run(['ACL', 'LIST'])}`).to.equal(theirs);
        }
        const lines = bulks(encodeReply(await stand.run(['ACL', 'LIST']))).filter(isOfUser);
        expect(lines).to.deep.equal(bulks(await server.client.call(['ACL', 'LIST'])).filter(isOfUser));
      }
    });

    it('requires the same key permissions for every command in the specs', async () => {
      if (major < 8) return; // Flags of keys were put right in later versions.
      const differences = new Set<string>();
      let compared = 0;
      for (const { when, then } of ALL_CASES) {
        // Of words that do not fit, one names the keys that are there, the other none.
        if (typeof then === 'string' && then.startsWith('-')) continue;
        const words = wordsOf(when, NOW);
        const spec = words.length === 0 ? undefined : findCommand(words);
        if (spec === undefined || UNCOMPARED.includes(spec.family)) continue;
        const reply = await server.client.call(['COMMAND', 'GETKEYSANDFLAGS', ...words]);
        if (reply.startsWith('-')) continue;
        const theirs = keysWithNeeds(reply).sort().join(' ');
        const ours = wantedKeysOf(spec, words)
          .map(({ key, access }) => `${key}:${access}`)
          .sort()
          .join(' ');
        compared += 1;
        if (ours !== theirs) differences.add(`${words.join(' ')}: ours ${ours}, theirs ${theirs}`);
      }
      expect([...differences].join('\n')).to.equal('');
      expect(compared).to.be.above(100);
    });

    it('words errors alike', async () => {
      const stand = await new AclStand().start();
      const lines = [
        'ACL CAT nope',
        'ACL GENPASS 0',
        'ACL GENPASS 5000',
        'ACL GENPASS abc',
        'ACL LOG nope',
        'ACL LOG',
        'ACL LOG RESET',
        'ACL DELUSER default',
        'ACL DRYRUN nobody get a',
        'ACL GETUSER nobody',
        'ACL WHOAMI',
        'ACL',
        'ACL nope',
        'ACL SETUSER',
        'ACL GETUSER',
        'ACL LIST x',
        'ACL CAT a b',
        'ACL GENPASS 1 2',
        'ACL LOG 1 2',
      ];
      for (const line of [...lines.map((each) => each.split(' ')), ['ACL', 'SETUSER', 'a b', 'on']]) {
        const ours = encodeReply(await stand.run(line));
        expect({ line, reply: ours }).to.deep.equal({ line, reply: await server.client.call(line) });
      }
    });
  });
}

function isOfUser(line: ByteString): boolean {
  return !line.startsWith('user default');
}

function isKnown(words: readonly string[]): boolean {
  return findCommand(words) !== undefined;
}

/** Filed there since 7.2: ours are the newer server's. */
const NEWER: ReadonlySet<string> = new Set(['wait blocking']);

/** Of COMMAND GETKEYSANDFLAGS: `key:bits`. */
function keysWithNeeds(reply: ByteString): string[] {
  return reply
    .split(/\*2\r\n\$[0-9]+\r\n/)
    .slice(1)
    .map((part) => {
      const [key = ''] = part.split('\r\n');
      const reads = part.includes('+access\r\n');
      const writes = /\+(insert|update|delete)\r\n/.test(part);
      return `${key}:${(reads ? READ : 0) | (writes ? WRITE : 0)}`;
    });
}
