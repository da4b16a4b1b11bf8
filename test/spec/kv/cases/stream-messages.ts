/** Repeated messages of producers (XADD IDMP, XCFGSET), and entries that consumers release (XNACK). */
import { type KvCase, kvCase } from '../../../support/kv-case.js';
import { SYNTAX, WRONG_TYPE, wrongArity } from './texts.js';

const ONE = ['XADD s IDMP p m1 * a 1'];
const CONFIGURED = ['XADD s 1-1 a 1', 'XCFGSET s IDMP-DURATION 10 IDMP-MAXSIZE 2'];
const FIRST = '1900000000000-0';
const NOT_THERE = ['XADD s 1-1 a 1'];

const DELIVERED = [
  'XADD s 1-1 a 1',
  'XADD s 2-1 a 2',
  'XGROUP CREATE s g 0',
  'XREADGROUP GROUP g c COUNT 2 STREAMS s >',
];
const RELEASED = [...DELIVERED, 'XNACK s g FAIL IDS 1 1-1'];

export const STREAM_MESSAGE_CASES: readonly KvCase[] = [
  kvCase('XADD IDMP adds a new message', [], 'XADD s IDMP p m1 * a 1', FIRST, [
    `XADD s ${FIRST} a 1`,
    'XCFGSET s IDMP-DURATION 100 IDMP-MAXSIZE 100',
    `XIDMPRECORD s p m1 ${FIRST}`,
  ]),
  kvCase('XADD IDMP answers the entry of a repeated message', ONE, 'XADD s IDMP p m1 * b 2', FIRST, []),
  kvCase('XADD IDMP adds another message', ONE, 'XADD s IDMP p m2 * a 1', '1900000000000-1', [
    'XADD s 1900000000000-1 a 1',
    'XIDMPRECORD s p m2 1900000000000-1',
  ]),
  kvCase('XADD IDMP adds the message of another producer', ONE, 'XADD s IDMP q m1 * a 1', '1900000000000-1'),
  kvCase(
    'XADD IDMPAUTO knows a message by its fields',
    ['XADD s IDMPAUTO p * a 1 b 2'],
    'XADD s IDMPAUTO p * b 2 a 1',
    FIRST,
    [],
  ),
  kvCase(
    'XADD IDMPAUTO adds a message with other fields',
    ['XADD s IDMPAUTO p * a 1 b 2'],
    'XADD s IDMPAUTO p * b 1 a 2',
    '1900000000000-1',
  ),
  kvCase(
    'XADD IDMP knows a message whose entry was trimmed',
    [...ONE, 'XTRIM s MAXLEN 0'],
    'XADD s IDMP p m1 * a 1',
    FIRST,
    [],
  ),
  kvCase('XADD IDMP trims', NOT_THERE, 'XADD s IDMP p m MAXLEN 1 * a 1', FIRST),
  kvCase('XADD IDMP NOMKSTREAM makes no stream', [], 'XADD s NOMKSTREAM IDMP p m * a 1', null, []),
  kvCase(
    'XADD IDMP refuses an id of the caller',
    [],
    'XADD s IDMP p m 5-1 a 1',
    '-ERR syntax error, IDMP/IDMPAUTO can be used only with auto-generated IDs',
    [],
  ),
  kvCase(
    'XADD IDMP refuses a producer without a name',
    [],
    "XADD s IDMP '' m * a 1",
    '-ERR syntax error, IDMP requires a non-empty producer ID',
    [],
  ),
  kvCase(
    'XADD IDMP refuses a message without a name',
    [],
    "XADD s IDMP p '' * a 1",
    '-ERR syntax error, IDMP requires a non-empty idempotent ID',
    [],
  ),
  kvCase(
    'XADD IDMPAUTO refuses a producer without a name',
    [],
    "XADD s IDMPAUTO '' * a 1",
    '-ERR syntax error, IDMPAUTO requires a non-empty producer ID',
    [],
  ),
  kvCase(
    'XADD refuses IDMP and IDMPAUTO together',
    [],
    'XADD s IDMP p m IDMPAUTO p * a 1',
    '-ERR syntax error, IDMP/IDMPAUTO specified multiple times',
    [],
  ),
  kvCase('XADD IDMP needs fields', [], 'XADD s IDMP p m *', `-${wrongArity('xadd').slice(1)}`, []),
  kvCase('XADD IDMP of another type', ['SET s x'], 'XADD s IDMP p m * a 1', WRONG_TYPE, []),
  kvCase('XCFGSET sets both', NOT_THERE, 'XCFGSET s IDMP-MAXSIZE 5 IDMP-DURATION 7', '+OK', [
    'XCFGSET s IDMP-DURATION 7 IDMP-MAXSIZE 5',
  ]),
  kvCase('XCFGSET keeps the value that is not given', CONFIGURED, 'XCFGSET s IDMP-MAXSIZE 3', '+OK', [
    'XCFGSET s IDMP-DURATION 10 IDMP-MAXSIZE 3',
  ]),
  kvCase(
    'XCFGSET of the same values keeps the messages',
    [...ONE, 'XCFGSET s IDMP-DURATION 100'],
    'XADD s IDMP p m1 * a 1',
    FIRST,
    [],
  ),
  kvCase(
    'XCFGSET of other values forgets the messages',
    [...ONE, 'XCFGSET s IDMP-DURATION 99'],
    'XADD s IDMP p m1 * a 1',
    '1900000000000-1',
  ),
  kvCase(
    'XCFGSET IDMP-MAXSIZE is the number of messages that are known of a producer',
    [...CONFIGURED, 'XADD s IDMP p a * a 1', 'XADD s IDMP p b * a 1', 'XADD s IDMP p c * a 1', 'XADD s IDMP p b * a 1'],
    'XADD s IDMP p a * a 1',
    '1900000000000-3',
  ),
  kvCase('XCFGSET needs a key', [], 'XCFGSET', wrongArity('xcfgset'), []),
  kvCase('XCFGSET needs a value', NOT_THERE, 'XCFGSET s', '-ERR At least one parameter must be specified', []),
  kvCase('XCFGSET of a missing stream', [], 'XCFGSET s IDMP-DURATION 10', '-ERR no such key', []),
  kvCase('XCFGSET of another type', ['SET s x'], 'XCFGSET s IDMP-DURATION 10', WRONG_TYPE, []),
  kvCase(
    'XCFGSET refuses a duration above a day',
    NOT_THERE,
    'XCFGSET s IDMP-DURATION 86401',
    '-ERR IDMP-DURATION must be between 1 and 86400 seconds',
    [],
  ),
  kvCase(
    'XCFGSET refuses a size of 0',
    NOT_THERE,
    'XCFGSET s IDMP-MAXSIZE 0',
    '-ERR IDMP-MAXSIZE must be between 1 and 10000 entries',
    [],
  ),
  kvCase(
    'XCFGSET refuses a value twice',
    NOT_THERE,
    'XCFGSET s IDMP-MAXSIZE 1 IDMP-MAXSIZE 2',
    '-ERR IDMP-MAXSIZE specified multiple times',
    [],
  ),
  kvCase('XCFGSET refuses another option', NOT_THERE, 'XCFGSET s FOO 1', SYNTAX, []),
  kvCase('XCFGSET refuses an option without a value', NOT_THERE, 'XCFGSET s IDMP-MAXSIZE', SYNTAX, []),
  kvCase('COPY of a stream knows its messages', [...ONE, 'COPY s t'], 'XADD t IDMP p m1 * a 1', FIRST, []),

  kvCase('XNACK FAIL keeps the number of deliveries', DELIVERED, 'XNACK s g FAIL IDS 2 1-1 2-1', 2, [
    'XNACK s g FAIL IDS 2 1-1 2-1 RETRYCOUNT 1 FORCE',
  ]),
  kvCase('XNACK SILENT takes a delivery back', DELIVERED, 'XNACK s g SILENT IDS 1 1-1', 1, [
    'XNACK s g FAIL IDS 1 1-1 RETRYCOUNT 0 FORCE',
  ]),
  kvCase('XNACK FATAL sets the highest number of deliveries', DELIVERED, 'XNACK s g FATAL IDS 1 1-1', 1, [
    'XNACK s g FAIL IDS 1 1-1 RETRYCOUNT 9007199254740991 FORCE',
  ]),
  kvCase('XNACK RETRYCOUNT sets the number of deliveries', DELIVERED, 'XNACK s g SILENT IDS 1 1-1 RETRYCOUNT 7', 1, [
    'XNACK s g FAIL IDS 1 1-1 RETRYCOUNT 7 FORCE',
  ]),
  kvCase('XNACK leaves out entries that are not pending', DELIVERED, 'XNACK s g FAIL IDS 2 1-1 9-9', 1),
  kvCase('XNACK FORCE makes an entry pending', [...DELIVERED, 'XACK s g 1-1'], 'XNACK s g FAIL IDS 1 1-1 FORCE', 1),
  kvCase('XNACK without a pending entry has no effect', DELIVERED, 'XNACK s g FAIL IDS 1 9-9', 0, []),
  kvCase('XNACK leaves released entries to no consumer', RELEASED, 'XPENDING s g', [2, '1-1', '2-1', [['c', '1']]]),
  kvCase('XNACK lets XAUTOCLAIM take released entries', RELEASED, 'XAUTOCLAIM s g d 3600000 0 JUSTID', [
    '0-0',
    ['1-1'],
    [],
  ]),
  kvCase('XNACK lets XACK acknowledge released entries', RELEASED, 'XACK s g 1-1', 1),
  kvCase('XNACK: COPY keeps released entries', [...RELEASED, 'COPY s t'], 'XPENDING t g', [
    2,
    '1-1',
    '2-1',
    [['c', '1']],
  ]),
  kvCase('XNACK needs an id', [], 'XNACK s g FAIL IDS 1', wrongArity('xnack'), []),
  kvCase(
    'XNACK of a missing group',
    NOT_THERE,
    'XNACK s g FAIL IDS 1 1-1',
    "-NOGROUP No such key 's' or consumer group 'g'",
    [],
  ),
  kvCase(
    'XNACK refuses another mode',
    DELIVERED,
    'XNACK s g OTHER IDS 1 1-1',
    '-ERR syntax error, expected SILENT, FAIL or FATAL',
    [],
  ),
  kvCase(
    'XNACK refuses a wrong count',
    DELIVERED,
    'XNACK s g FAIL IDS 3 1-1',
    '-ERR The `numids` parameter must match the number of arguments',
    [],
  ),
];
