/**
 * The limits of scripts: they cannot run forever, use all memory, leave changes for other scripts or reach outside.
 * Proves LUM1, LUM2, LSA1–LSA3, LSH1, LSH2.
 */
import { expect } from 'chai';
import { findCommand, KvEngine, Paused, type ServerInfo } from '../../../src/domain/kv/index.js';
import { readable, seededRandom } from '../../support/kv-bench.js';
import { processorMicros, processorMsOf } from '../../support/processor-time.js';

/** A script has 80 ms of work. Processor time is the clock here, so that a busy machine does not count. */
const FACTS: ServerInfo = {
  nowMicros: processorMicros,
  info: () => new Map(),
  scriptLimits: { totalMs: 1_000, holdMs: 80 },
};
/** For scripts that have to end by themselves: the default limits. */
const DEFAULT_LIMITS: ServerInfo = { nowMicros: processorMicros, info: () => new Map() };
/** Processor time: a script may overrun its limit by one long instruction. */
const MAX_RUN_MS = 10_000;

describe('key-value: the sandbox of scripts', () => {
  const engine = new KvEngine(seededRandom(1), FACTS);
  const unhurried = new KvEngine(seededRandom(1), DEFAULT_LIMITS);
  const run = (script: string, on = engine): unknown => {
    const words = ['EVAL', script, '0'];
    return readable(on.execute(findCommand(words) as never, words, 1) as never);
  };

  const STOPPED: Record<string, string> = {
    'an endless loop': 'while true do end',
    'a loop within pcall': 'while true do pcall(function() while true do end end) end',
    'a loop within a coroutine': 'local c=coroutine.wrap(function() while true do end end) pcall(c)',
    'a loop within an error handler': 'xpcall(function() error() end, function() while true do end end)',
    'endless tail calls': 'local function f() return f() end return f()',
    'a string of 2 GiB': "return string.rep('x', 2^31-1)",
    'a string that doubles within pcall': "pcall(function() local s='x' while true do s=s..s end end) return 1",
    'a table without end': 'local t={} for i=1,1e9 do t[i]=i end',
    'a pattern that takes exponential time': "return string.find(string.rep('a',5e4), string.rep('a*',30)..'b')",
    'a table that holds itself twice, as a reply': 'local t={} t[1]=t t[2]=t return t',
    'a table that holds itself twice, as JSON': 'local t={} for i=1,22 do t={t,t} end return cjson.encode(t)',
    'a collector that is called again and again': 'while true do collectgarbage() end',
    'long strings made again and again': "local s=string.rep('x',2e7) while true do local t=s:upper() end",
    'a reader that never ends': "return load(function() return 'x=1 ' end)",
    'a format without end': "return struct.size(string.rep('i8',1.5e7))",
  };
  it('has an os.clock that advances within a script, also over its slices', () => {
    const script =
      'local last, moved = os.clock(), 0 for i=1,1e4 do local now = os.clock() if now < last then return -1 end if now > last then moved = moved + 1 end last = now end return moved';
    expect(run(script, unhurried)).to.be.greaterThan(0);
    const words = [
      'EVAL',
      'local began = os.clock() for i=1,3e6 do end return os.clock() - began > 0.01 and 1 or 0',
      '0',
    ];
    const caller = { endpoint: 'resp', mayPause: true } as const;
    const spec = findCommand(words) as never;
    let reply: unknown = unhurried.execute(spec, words, 1, caller);
    if (reply instanceof Paused) {
      const slices = unhurried.rest(reply, words, caller);
      do reply = slices.next(1);
      while (reply === undefined);
    }
    expect(reply).to.equal(1);
  });

  it('refuses unbounded JSON nesting at the end of the stack', () => {
    const script = "cjson.decode_max_depth(2^31-1) return cjson.decode(string.rep('[',1e5))";
    expect(run(script, unhurried)).to.match(
      /^-ERR user_script:1: Found too many nested data structures \(\d{4}\) at character \d{4}/,
    );
  });

  for (const [attempt, script] of Object.entries(STOPPED)) {
    it(`stops ${attempt}, and the next script runs`, () => {
      const tookMs = processorMsOf(() => expect(run(script)).to.match(/^-ERR Script stopped: /));
      expect(tookMs, 'of the processor').to.be.below(MAX_RUN_MS);
      expect(run('return 1')).to.equal(1);
    });
  }

  describe('in a process that was suspended for a minute', () => {
    const SUM = 'local n=0 for i=1,100000 do n=n+i end return n';
    /** The clock jumps by a minute at the tenth look; `workedMs` of it are work. */
    const paused = (workedMs: number) => {
      let looks = 0;
      const isOver = () => looks > 10;
      const nowMicros = () => {
        looks += 1;
        return isOver() ? 60_000_000 : 0;
      };
      return new KvEngine(seededRandom(1), {
        nowMicros,
        workedMicros: () => (isOver() ? workedMs * 1000 : 0),
        info: () => new Map(),
      });
    };

    it('continues a script that had time left', () => {
      expect(run(SUM, paused(249))).to.equal(5_000_050_000);
    });

    it('stops a script that worked for its whole time', () => {
      expect(run(SUM, paused(250))).to.match(/^-ERR Script stopped: it took longer than 250 ms/);
    });
  });

  it('undoes the writes of a stopped script', () => {
    const own = new KvEngine(seededRandom(1), FACTS);
    expect(run("redis.call('set','k','v') while true do end", own)).to.match(/^-ERR Script stopped: /);
    expect(own.effects.count).to.equal(0);
    expect(run("return redis.call('exists','k')", own)).to.equal(0);
  });

  it('keeps the writes of a failed script', () => {
    const own = new KvEngine(seededRandom(1), FACTS);
    expect(run("redis.call('set','k','v') error('x')", own)).to.match(/^-ERR user_script:1: x/);
    expect(run("return redis.call('get','k')", own)).to.equal('v');
  });

  const READ_ONLY = [
    'x = 1',
    '_G.x = 1',
    "rawset(_G, 'x', 1)",
    'setmetatable(_G, {})',
    'getmetatable(_G).__index = 1',
    "getmetatable('').__index = 1",
    "getmetatable('').__index.upper = 1",
    'redis.call = 1',
    "rawset(redis, 'call', 1)",
    'table.insert(redis, 1)',
    'string.upper = nil',
    'setmetatable(string, {})',
    'for _, t in pairs(_G) do if type(t) == "table" then for k in pairs(t) do rawset(t, k, 1) end end end',
    'cjson.encode = 1',
    "loadstring('string.rep = 1')()",
    'coroutine.wrap(function() math.random = 1 end)()',
  ];
  for (const script of READ_ONLY) {
    it(`does not let a script change shared tables: ${script}`, () => {
      expect(run(script)).to.match(/^-ERR .*Attempt to modify a readonly table/);
    });
  }

  it('has no function that reaches outside', () => {
    const names = [
      'io',
      'package',
      'debug',
      'require',
      'module',
      'dofile',
      'loadfile',
      'print',
      'getfenv',
      'setfenv',
      'newproxy',
    ];
    const found = `local r={} for _,n in ipairs{'${names.join("','")}'} do if rawget(_G,n)~=nil then r[#r+1]=n end end return r`;
    expect(run(found)).to.deep.equal([]);
    expect(run('local r={} for k in pairs(os) do r[#r+1]=k end return r')).to.deep.equal(['clock']);
    expect(run('return string.dump == nil')).to.equal(1);
  });

  it('refuses bytecode', () => {
    expect(run("return {loadstring('\\27Lua')}")).to.deep.equal([]);
    expect(run("local f,e = loadstring('\\27Lua') return e")).to.include("unexpected symbol near 'char(27)'");
    expect(
      run(
        "local given=false local f,e = load(function() if given then return nil end given=true return '\\27Lua' end) return e",
      ),
    ).to.include('char(27)');
  });

  it('forgets settings that a script changed in a library', () => {
    expect(run('cjson.encode_max_depth(1) return cjson.encode({1})')).to.equal('[1]');
    expect(run('return cjson.encode({{1}})')).to.equal('[[1]]');
  });

  it('keeps the databases apart', () => {
    const other = new KvEngine(seededRandom(1), FACTS);
    expect(run('KEYS[1]="leak" return KEYS[1]')).to.equal('leak');
    expect(run('return KEYS[1]', other)).to.equal(null);
    expect(run('return #KEYS')).to.equal(0);
  });

  for (const expression of [
    '{pcall(function(...) return select("#", ...), ... end, nil, 2)}',
    '{pcall(function() end)}',
    '{pcall(nil)}',
    '{pcall(error, "x")}',
    '{pcall(error)}',
    '{pcall(error, {err="E text"})}',
    'type(select(2, pcall(error, {err=1})))',
    '{pcall(function() error("boom") end)}',
    '{pcall(function() error("boom", 2) end)}',
    '{pcall(function() local a; return a.b end)}',
    '{pcall(string.rep)}',
    '{pcall(redis.call, "nosuch")}',
    '{pcall(pcall, error, "x")}',
    '{pcall(setmetatable({}, {__call = function(_, a) return a end}), 9)}',
    '{pcall(function() table.sort({2, 1}, function(a, b) return select(2, pcall(function() return a < b end)) end) end)}',
    '(function() local function f() local ok, e = pcall(f) return ok and e or tostring(e) end return type(f()) end)()',
    '(function() for i = 1, 500 do pcall(error, i) pcall(type, i) end return "many" end)()',
  ]) {
    it(`answers ${expression} the same where a script can be interrupted and where it cannot`, () => {
      const there = run(`return ${expression}`);
      expect(run(`return coroutine.wrap(function() return ${expression} end)()`)).to.deep.equal(there);
    });
  }

  it('does not let a script yield within pcall, like Lua', () => {
    const refused = 'attempt to yield across metamethod/C-call boundary';
    expect(run('return {pcall(coroutine.yield, 1)}')).to.deep.equal([null, refused]);
    expect(run('return {pcall(coroutine.running)}')).to.deep.equal([1]);
    const within = 'local co = coroutine.wrap(function() return pcall(coroutine.yield, 1) end) return {co()}';
    expect(run(within)).to.deep.equal([null, refused]);
  });

  it('ends nested calls before the end of the stack', () => {
    expect(run('local function f() return 1+f() end return f()')).to.match(/stack overflow/);
    expect(run('local function f() return pcall(f) end f() return 1')).to.equal(1);
    expect(run("return loadstring('return '..string.rep('(',1e5))")).to.equal(null);
    expect(run('local a={} a[1]=a return a')).to.satisfy((reply: unknown) =>
      JSON.stringify(reply).includes('reached lua stack limit'),
    );
  });

  it('unpacks as many values as fit and refuses more', () => {
    expect(run("return select('#', unpack({}, 1, 7900))")).to.equal(7900);
    expect(run('return unpack({}, 1, 1e8)')).to.match(/too many results to unpack/);
  });

  it('gives an error for odd arguments, and never crashes', () => {
    const odd = [
      'nil',
      'true',
      '-1',
      '0/0',
      '1/0',
      '2^53',
      "''",
      "'\\0'",
      '{}',
      'print',
      'function() end',
      'coroutine.create(function() end)',
    ];
    const functions = run(
      "local r={} for n,t in pairs(_G) do if type(t)=='table' and n~='_G' and n~='KEYS' and n~='ARGV' then for k,v in pairs(t) do if type(v)=='function' then r[#r+1]=n..'.'..k end end end end return r",
    ) as string[];
    expect(functions.length).to.be.above(80);
    for (const name of functions) {
      for (const first of odd) {
        const second = odd[(odd.indexOf(first) + name.length) % odd.length] as string;
        const script = `local ok = pcall(function() local a,b = ${first === 'print' ? 'nil' : first},${second === 'print' ? 'nil' : second} ${name}(a) ${name}(a,b) ${name}(b,a,b) end) return 1`;
        expect(run(script), script).to.satisfy((reply: unknown) => reply === 1 || String(reply).startsWith('-ERR'));
      }
    }
  });
});
