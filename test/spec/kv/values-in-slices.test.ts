/** A script encodes and decodes large values in slices, with the same result as in one call. Proves LUM4, LME1. */
import { expect } from 'chai';
import { inBothWays, ScriptStand } from '../../support/script-slices.js';

/** The size of a value that is copied into a Lua machine in several slices. */
const LONG = 2.5 * 1024 * 1024;

const both = (script: string, ...args: readonly string[]): { reply: unknown; pauses: number } =>
  inBothWays(['EVAL', script, '0', ...args]);

describe('key-value: cjson.decode of a long text', () => {
  const rows = Array.from(
    { length: 2000 },
    (_, i) => `{"id":${i},"name":"row\\t${i}","tags":["a",null,true],"at":{"x":${i / 7}}}`,
  );
  const text = `[${rows.join(',')}]`;
  const hasRead = 'local v=cjson.decode(ARGV[1]) return {#v,v[2000].id,v[2].name,v[3].tags[3],tostring(v[8].at.x)}';

  for (const [subject, script, given] of [
    ['many objects', hasRead, text],
    ['many objects through pcall', `return {pcall(function(...) ${hasRead} end)}`, text],
    ['many escapes', 'return #cjson.decode(ARGV[1])', `"${'\\n'.repeat(20_000)}"`],
    ['a long string', 'return cjson.decode(ARGV[1])[1]', `["${'l'.repeat(LONG)}"]`],
  ] as const) {
    it(`runs in slices: ${subject}`, () => {
      const { pauses } = both(script, given);
      expect(pauses).to.be.greaterThan(4);
    });
  }

  const broken = `${text.slice(0, -1)},]`;
  const problem = `Expected value but found T_ARR_END at character ${broken.length}`;

  it('fails at the line of the call', () => {
    const { reply, pauses } = both("local x=1\nlocal v=cjson.decode(ARGV[1])\nreturn 'behind'", broken);
    expect(reply).to.match(new RegExp(`^-ERR user_script:2: ${problem} script: [0-9a-f]{40}, on @user_script:2`));
    expect(pauses).to.be.greaterThan(4);
  });

  for (const [subject, script, answer] of [
    ['a function', 'pcall(function() return cjson.decode(ARGV[1]) end)', `user_script:1: ${problem}`],
    ['the called function itself, with no line in the error', 'pcall(cjson.decode,ARGV[1])', problem],
  ] as const) {
    it(`passes its error to pcall of ${subject}`, () => {
      const { reply, pauses } = both(`local ok,e=${script} return {tostring(ok),e}`, broken);
      expect(reply).to.deep.equal(['false', answer]);
      expect(pauses).to.be.greaterThan(4);
    });
  }

  it('names a wrong argument like Lua does where the function has no name', () => {
    const { reply } = both('local _,none=pcall(cjson.decode) local _,table=pcall(cjson.decode,{}) return {none,table}');
    expect(reply).to.deep.equal([
      "bad argument #1 to '?' (expected 1 argument)",
      "bad argument #1 to '?' (string expected, got table)",
    ]);
  });

  it('is undone with a script that is stopped at one of its pauses', () => {
    const stand = new ScriptStand(true);
    const before = stand.look();
    const script = "redis.call('SET','first','1') return #cjson.decode(ARGV[1])";
    expect(stand.run(['EVAL', script, '0', text], 5)).to.match(/^-ERR Script stopped: it was killed/);
    expect(stand.look()).to.deep.equal(before);
    expect(stand.run(['EVAL', script, '0', text])).to.equal(2000);
  });
});

const ROWS =
  "local t={} for i=1,2000 do t[i]={id=i,name='row\\t'..i,tags={'a',cjson.null,true,[5]=i/7},at={x=-i}} end ";
const BACKWARDS = 'local t={} for i=3000,1,-1 do t[i]=i*i end ';
const FIELDS = "local t={} for i=1,3000 do t['k'..i]={i} end for i=1,3000,7 do t['k'..i]=nil end ";
const LONG_STRINGS = `local s=string.rep('"l\\n',${LONG / 4}) local t={s,'',{k=s}} `;

describe('key-value: cjson.encode and cmsgpack.pack of large tables', () => {
  for (const [subject, make] of [
    ['many tables', ROWS],
    ['many items that are fields', BACKWARDS],
    ['many fields', FIELDS],
    ['long strings', LONG_STRINGS],
  ] as const) {
    for (const [name, script] of [
      ['encode', `${make} local s=cjson.encode(t) return {#s,redis.sha1hex(s)}`],
      ['encode through pcall', `${make} local ok,s=pcall(cjson.encode,t) return {#s,redis.sha1hex(s)}`],
      ['pack', `${make} local s=cmsgpack.pack(1,t,2) return {#s,redis.sha1hex(s)}`],
      ['pack through pcall', `${make} local ok,s=pcall(cmsgpack.pack,t,t) return {#s,redis.sha1hex(s)}`],
    ] as const) {
      it(`runs in slices: ${name}, ${subject}`, () => {
        const { pauses } = both(script);
        expect(pauses).to.be.greaterThan(4);
      });
    }
  }

  it('fails at the line of the call', () => {
    const { reply, pauses } = both(`${ROWS} t[2001]=redis.call\nlocal v=cjson.encode(t)\nreturn 'behind'`);
    expect(reply).to.match(
      /^-ERR user_script:2: Cannot serialise function: type not supported script: [0-9a-f]{40}, on @user_script:2/,
    );
    expect(pauses).to.be.greaterThan(4);
  });

  for (const [subject, call, place] of [
    ['a function', 'pcall(function() return cjson.encode(t) end)', 'user_script:1: '],
    ['the called function itself, with no line in the error', 'pcall(cjson.encode,t)', ''],
  ] as const) {
    it(`passes its error to pcall of ${subject}`, () => {
      const { reply, pauses } = both(`${ROWS} t[2001]=0/0 local ok,e=${call} return {tostring(ok),e}`);
      expect(reply).to.deep.equal(['false', `${place}Cannot serialise number: must not be NaN or Inf`]);
      expect(pauses).to.be.greaterThan(4);
    });
  }

  it('refuses unbounded nesting at the end of the stack, in slices as in one call', () => {
    const nested = (inner: string): string =>
      `cjson.encode_max_depth(2^31-1) local t={} for i=1,1e4 do t={${inner}} end return cjson.encode(t)`;
    expect(both(nested('t')).reply).to.match(/^-ERR user_script:1: Cannot serialise, excessive nesting \(7998\)/);
    expect(both(nested('t=t')).reply).to.match(/^-ERR user_script:1: Cannot serialise, excessive nesting \(4000\)/);
  });

  it('is undone with a script that is stopped at one of its pauses', () => {
    const stand = new ScriptStand(true);
    const before = stand.look();
    const script = `redis.call('SET','first','1') ${ROWS} return #cjson.encode(t)`;
    expect(stand.run(['EVAL', script, '0'], 40)).to.match(/^-ERR Script stopped: it was killed/);
    expect(stand.look()).to.deep.equal(before);
    expect(stand.run(['EVAL', script, '0'])).to.be.greaterThan(100_000);
  });

  it('iterates a table in the order of next, after any insertions and removals', () => {
    const script = `
      local seed=ARGV[1] local function dice(n) seed=(seed*16807)%2147483647 return seed%n end
      for round=1,200 do
        local t={}
        for i=1,dice(60) do
          local k=dice(3) if k==0 then k='k'..dice(40) elseif k==1 then k=dice(30)-3 else k=dice(9)/2 end
          if dice(4)==0 then t[k]=nil else t[k]='v'..i end
        end
        t.x='x'
        local seen={}
        for k,v in pairs(t) do seen[#seen+1]='"'..k..'":"'..v..'"' end
        if '{'..table.concat(seen,',')..'}'~=cjson.encode(t) then return {table.concat(seen,','),cjson.encode(t)} end
        local items={}
        for i=dice(20),1,-1 do items[i]='i'..i end
        for i=1,dice(20) do items[#items+1]='a'..i end
        if #items>0 and '["'..table.concat(items,'","')..'"]'~=cjson.encode(items) then return cjson.encode(items) end
      end
      return 'alike'`;
    for (const seed of ['1', '77', '4242']) expect(both(script, seed).reply).to.equal('alike');
  });
});

describe('key-value: cmsgpack.unpack of large texts', () => {
  const SHOWN = 'local function n(t) local s=0 for k,v in pairs(t) do s=s+1 end return s end';
  for (const [subject, make] of [
    ['many tables', ROWS],
    ['many items', BACKWARDS],
    ['many fields', FIELDS],
    ['long strings', LONG_STRINGS],
  ] as const) {
    for (const [name, unpack] of [
      ['in a script', 'cmsgpack.unpack(p)'],
      ['through pcall', 'select(2,pcall(cmsgpack.unpack,p))'],
      ['with a limit', 'select(2,cmsgpack.unpack_limit(p,1))'],
    ] as const) {
      it(`runs in slices: ${subject}, ${name}`, () => {
        const script = `${SHOWN} ${make} local p=cmsgpack.pack(t,'behind') local u=${unpack} return {n(u),redis.sha1hex(cjson.encode(u))==redis.sha1hex(cjson.encode(cmsgpack.unpack(p)))}`;
        const { pauses } = both(script);
        expect(pauses).to.be.greaterThan(4);
      });
    }
  }

  /** The unpacked text: very many numbers, and then the given end. */
  const behind = (end: string): string => `local p='\\220\\11\\185'..string.rep('\\1',3000)..'${end}' `;
  for (const [subject, end, text, hasPlace] of [
    ['a missing byte', '', 'Missing bytes in input.', true],
    ['an invalid byte', '\\193', 'Bad data format in input.', true],
    ['a key that is nil', '\\129\\192\\1', 'table index is nil', false],
    ['a key that is no number', '\\129\\203\\127\\248\\0\\0\\0\\0\\0\\0\\1', 'table index is NaN', false],
  ] as const) {
    it(`fails in slices as in one call: ${subject}`, () => {
      const place = hasPlace ? 'user_script:1: ' : '';
      const { reply, pauses } = both(`${behind(end)} local x=cmsgpack.unpack(p) return 'behind'`);
      expect(reply).to.match(new RegExp(`^-ERR ${place}${text} script: [0-9a-f]{40}, on @user_script:1`));
      expect(pauses).to.be.greaterThan(2);
      const caught = both(`${behind(end)} local ok,e=pcall(cmsgpack.unpack,p) return {tostring(ok),e}`);
      expect(caught.reply).to.deep.equal(['false', text]);
    });
  }

  it('accepts as many values as a call may have, in slices as in one call', () => {
    const count = (many: number): string => `return select('#',cmsgpack.unpack(string.rep('\\1',${many})))`;
    expect(both(count(7990)).reply).to.equal(7990);
    expect(both(count(8001)).reply).to.match(/^-ERR user_script:1: too many values to unpack/);
    const limited = "return {cmsgpack.unpack_limit(string.rep('\\1',3000),2000,5)}";
    expect(both(limited).reply).to.deep.equal([2005, ...Array.from({ length: 2000 }, () => 1)]);
  });
});
