/**
 * Random scripts of permitted and forbidden statements. Each ends in time, with a reply or with a state in doubt, and
 * the next script finds the globals and libraries unchanged.
 */
import { expect } from 'chai';
import { admit, ErrorReply, findCommand, KvEngine, type Reply, StateInDoubt } from '../../src/domain/kv/index.js';
import { seededRandom } from '../support/kv-bench.js';
import { NOW } from '../support/kv-case.js';
import { processorMicros, processorMsOf } from '../support/processor-time.js';
import { type FuzzRandom, itHolds } from './fuzz-run.js';

/** A script is ended after this work, so that a test of many endless ones is short. */
const SCRIPT_LIMITS = { totalMs: 1_000, holdMs: 80 };
/** A script may overrun its limit by one long instruction, and making a machine takes time too. */
const MAX_SCRIPT_MS = 3_000;

const VALUES = [
  'nil',
  'true',
  '0',
  '-1',
  '1/0',
  '0/0',
  '2^53',
  "''",
  "'a'",
  "'\\0\\255'",
  '{}',
  '{1,2,{3,{}}}',
  "{ok='x'}",
  "{err='E x'}",
  '{double=1.5}',
  '{map={a=1}}',
  'KEYS',
  'ARGV',
  'redis',
  '_G',
  'string',
  'print',
  'function() end',
  'coroutine.wrap(function() coroutine.yield(1) end)',
  "string.rep('x', 1000)",
  "string.rep('a', 2^31)",
  "('x'):rep(-1)",
  'math.huge',
  'cjson.null',
  'a',
  'b',
  't',
];
const CALLS = [
  "redis.call('set','k',V)",
  "redis.pcall('incr',V)",
  'redis.call(V,V,V)',
  'redis.pcall(V)',
  "redis.call('eval','return 1',0)",
  "redis.pcall('lrange',V,0,-1)",
  "redis.call('zrange',KEYS[1],V,V)",
  'redis.error_reply(V)',
  'redis.status_reply(V)',
  'redis.sha1hex(V)',
  'redis.log(redis.LOG_NOTICE,V)',
  'redis.setresp(V)',
  "redis.acl_check_cmd('get',V)",
  'cjson.encode(V)',
  'cjson.decode(V)',
  "cjson.decode(string.rep('[',2000))",
  'cmsgpack.pack(V,V)',
  'cmsgpack.unpack(V)',
  "struct.pack('>I4s',V,V)",
  "struct.unpack('<dz',V)",
  "struct.pack('i9999',V)",
  'bit.lshift(V,V)',
  'bit.tohex(V,V)',
  'tostring(V)',
  'tonumber(V,V)',
  'unpack(V,V,V)',
  'next(V)',
  'rawset(V,V,V)',
  'rawget(V,V)',
  'setmetatable(V,V)',
  'getmetatable(V)',
  'loadstring(V)',
  "loadstring('return '..tostring(V))",
  "loadstring('\\27Lua')",
  'string.dump(V)',
  'string.format(V,V,V)',
  'string.gsub(V,V,V)',
  'string.find(V,V)',
  "('a'):rep(30):find(('a*'):rep(30)..'b')",
  'table.concat(V,V)',
  'table.sort(V,V)',
  'table.insert(V,V)',
  'pcall(V,V)',
  'xpcall(V,V)',
  'error(V)',
  'error(V,2)',
  'coroutine.resume(coroutine.create(V))',
  'select(V,V)',
  'ipairs(V)',
  'collectgarbage(V)',
  'math.random(V)',
  'os.clock()',
];
const FORBIDDEN = [
  'os.execute("id")',
  'io.open("/etc/passwd")',
  "require('os')",
  "dofile('/etc/passwd')",
  'loadfile("x")',
  'debug.getinfo(1)',
  'debug.getregistry()',
  'package.loaded',
  'getfenv(0)',
  'setfenv(0,{})',
  'newproxy(true)',
  'string.dump(function() end)',
  'x = 1',
  '_G.x = 1',
  'rawset(_G,"x",1)',
  'setmetatable(_G,{})',
  'getmetatable(_G).__index=nil',
  "getmetatable('').__index=nil",
  'string.rep = nil',
  'redis.call = print',
  'table.insert(redis,1)',
  'math.floor = nil',
  'cjson.encode = nil',
  'bit.band = nil',
  'KEYS.x = _G',
  'pcall = nil',
];
const SHAPES = [
  'local a = C',
  'local b = {C, C}',
  'return C',
  'return V',
  'F',
  'pcall(function() F end)',
  'local t = {} for i = 1, 50 do t[i] = C end',
  'if C then S end',
  'pcall(function() S S end)',
  'for k, v in pairs(V) do S end',
  'local t = setmetatable({}, {__index = function(t, k) S return C end}) S local b = t.x',
  'local f = function(...) S return C end f(V)',
  'return {C, {C}, ok = C}',
  'xpcall(function() S error(V) end, function(e) F return e end)',
];
/** Each ends only because it is made to; a quarter of a second each. */
const ENDLESS = [
  'while true do end',
  'while true do pcall(function() while true do end end) end',
  'local function f() return f() end return f()',
  "local t = {} while true do t[#t+1] = ('x'):rep(1e5) end",
  'local s = "x" while true do s = s..s end',
  "return (('a'):rep(1e6)):find(('.-'):rep(100)..'b')",
  'coroutine.wrap(function() while true do end end)()',
  "while true do redis.pcall('set','k','v') end",
  'xpcall(function() while true do end end, function() while true do end end)',
  'local t = {} t[1] = t return t',
  "return string.rep(string.rep('x',1e6),1e6)",
  "while true do local ok = pcall(string.rep,'x',1e8) end",
  'repeat local t = {} for i = 1, 1e6 do t[i] = {} end until false',
  'return cjson.encode(setmetatable({}, {__index = function(t, k) return t end}))',
  'local function f() f() end f()',
  'local t = {} for i = 1, 1e9 do t[i] = i end',
];

/** Grows the letters of a shape; `S`, a statement, not without end. */
function grown(random: FuzzRandom, text: string, depth = 0): string {
  return text.replace(/\b[SCVF]\b/g, (letter) => {
    if (letter === 'V') return random.pick(VALUES);
    if (letter === 'F')
      return random.chance(0.5)
        ? random.pick(FORBIDDEN)
        : 'local a = C'.replace('C', grown(random, random.pick(CALLS), depth + 1));
    if (letter === 'C') return grown(random, random.pick(random.chance(0.9) ? CALLS : FORBIDDEN), depth + 1);
    return depth > 3 ? 'local b = 1' : grown(random, random.pick(SHAPES.slice(0, 2)), depth + 1);
  });
}

/** What no script may change, as one line. */
const PROBE = `local names = {}
for _, library in ipairs({'redis', 'string', 'table', 'math', 'cjson', 'cmsgpack', 'struct', 'bit', 'coroutine', 'os'}) do
  for name, value in pairs(_G[library]) do names[#names + 1] = library .. '.' .. name .. type(value) end
end
for name, value in pairs(_G) do names[#names + 1] = name .. type(value) end
table.sort(names)
return table.concat(names, ' ') .. tostring(getmetatable('').__index == string) .. ('x'):rep(2) .. redis.sha1hex('')`;

class ScriptBench {
  engine = ScriptBench.#newEngine();
  readonly probe = this.run(PROBE);

  static #newEngine(): KvEngine {
    // Scripts are stopped by their work, however busy the machine is.
    return new KvEngine(seededRandom(1), {
      nowMicros: processorMicros,
      info: () => new Map(),
      scriptLimits: SCRIPT_LIMITS,
    });
  }

  run(script: string): Reply {
    const words = ['EVAL', script, '1', 'k', 'arg', '\x00\xff'];
    const spec = admit(words);
    if (spec instanceof ErrorReply) throw spec;
    try {
      return this.engine.execute(spec, words, NOW, { endpoint: 'resp' }) as Reply;
    } catch (error) {
      if (!(error instanceof StateInDoubt)) throw error;
      // Its owner builds the partition again without the script.
      this.engine = ScriptBench.#newEngine();
      return error.reply;
    }
  }
}

describe('fuzz: scripts', () => {
  if (findCommand(['EVAL']) === undefined) throw new Error('there are no scripts');
  const bench = new ScriptBench();

  function expectContained(script: string): void {
    let reply: Reply | undefined;
    const tookMs = processorMsOf(() => {
      reply = bench.run(script);
    });
    expect(tookMs, `milliseconds of the processor for ${script}`).to.be.lessThan(MAX_SCRIPT_MS);
    expect(reply, script).not.to.equal(undefined);
    if (typeof reply === 'string') expect(reply, script).not.to.include('root:');
    expect(bench.run(PROBE), `globals after ${script}`).to.equal(bench.probe);
  }

  it('have the libraries and globals of the sandbox at the start', () => {
    expect(bench.probe)
      .to.be.a('string')
      .that.includes('redis.callfunction')
      .and.not.match(/(^| )(io|debug|package|dofile|loadfile|require|newproxy|print|getfenv|setfenv)(table|function)/);
  });

  itHolds('end with a reply and leave the globals unchanged', 400, (random) => {
    const statements = [random.pick(SHAPES), random.pick(SHAPES), random.pick(SHAPES.slice(0, 5))];
    // A `return` ends its block.
    const script = statements.map((shape) => `do ${grown(random, shape)} end`).join('\n');
    expectContained(script);
  });

  for (const forbidden of FORBIDDEN) {
    it(`leave the globals unchanged after ${forbidden}`, () =>
      expectContained(`${forbidden.includes('=') ? '' : 'return '}${forbidden}`));
  }

  for (const endless of ENDLESS) {
    it(`are ended in time: ${endless.slice(0, 60)}`, () => {
      expectContained(endless);
    });
  }
});
