/** Random commands with few keys and chosen values; the same seed gives the same commands. */
import { seededRandom } from './kv-bench.js';

const KEYS = ['a', 'b', 'c', '{t}d', "''"];
const VALUES = [
  '',
  '0',
  '1',
  '-1',
  '10',
  '3.5',
  '1e3',
  'abc',
  'hello',
  '9223372036854775807',
  '-9223372036854775808',
  '9007199254740993',
  '012',
  ' 1',
  '\x00\xff',
  'x'.repeat(50),
  'inf',
  '0.1',
  '1.0',
];
const NUMBERS = ['0', '1', '-1', '2', '5', '-3', '100', '9223372036854775807', '-9223372036854775808', 'x', '1.5', ''];
const FLAGS = ['NX', 'XX', 'GT', 'LT'];

export class RandomCommands {
  readonly #float: () => number;
  #uses = 0;

  constructor(
    seed: number,
    private readonly major: number,
  ) {
    const random = seededRandom(seed);
    for (let i = 0; i < 20; i += 1) random.float();
    this.#float = () => random.float();
  }

  next(): string[] {
    return this.#pick(this.#shapes())();
  }

  #shapes(): (() => string[])[] {
    const key = (): string => this.#pick(KEYS);
    const value = (): string => this.#pick(VALUES);
    const number = (): string => this.#pick(NUMBERS);
    const shapes: (() => string[])[] = [
      () => ['GET', key()],
      () => ['SET', key(), value(), ...this.#setOptions()],
      () => ['SET', key(), value()],
      () => ['SETNX', key(), value()],
      () => ['SETEX', key(), this.#seconds(), value()],
      () => ['PSETEX', key(), this.#millis(), value()],
      () => ['GETSET', key(), value()],
      () => ['GETDEL', key()],
      () => ['GETEX', key(), ...this.#maybe(() => this.#expiry()), ...this.#maybe(() => ['PERSIST'])],
      () => ['APPEND', key(), value()],
      () => ['STRLEN', key()],
      () => ['SETRANGE', key(), this.#pick(['0', '1', '3', '70', '-1', 'x']), value()],
      () => [this.#pick(['GETRANGE', 'SUBSTR']), key(), number(), number()],
      () => [this.#pick(['INCR', 'DECR']), key()],
      () => [this.#pick(['INCRBY', 'DECRBY']), key(), number()],
      () => ['INCRBYFLOAT', key(), this.#pick([...VALUES, ...NUMBERS])],
      () => ['MGET', key(), key(), key()],
      () => [this.#pick(['MSET', 'MSETNX']), key(), value(), key(), value()],
      () => [
        'LCS',
        key(),
        key(),
        ...this.#maybe(() => ['IDX']),
        ...this.#maybe(() => ['LEN']),
        ...this.#maybe(() => ['WITHMATCHLEN']),
      ],
      () => [this.#pick(['EXISTS', 'TOUCH', 'DEL', 'UNLINK']), key(), key()],
      () => [this.#pick(['TTL', 'PTTL', 'EXPIRETIME', 'PEXPIRETIME', 'TYPE', 'PERSIST']), key()],
      () => ['EXPIRE', key(), this.#seconds(), ...this.#flags()],
      () => ['PEXPIRE', key(), this.#millis(), ...this.#flags()],
      () => ['EXPIREAT', key(), this.#instant('s', 1), ...this.#flags()],
      () => ['PEXPIREAT', key(), this.#instant('', 1000), ...this.#flags()],
      () => [this.#pick(['RENAME', 'RENAMENX']), key(), key()],
      () => ['COPY', key(), key(), ...this.#maybe(() => ['REPLACE'])],
      () => ['KEYS', this.#pick(['*', '?', '[a-b]', '*d', '\\a', '[^a]', ''])],
      () => ['SCAN', '0', 'COUNT', '1000', ...this.#maybe(() => ['MATCH', '?'])],
    ];
    if (this.major >= 8) {
      shapes.push(
        () => ['DIGEST', key()],
        () => ['DELEX', key(), ...this.#maybe(() => [this.#pick(['IFEQ', 'IFNE']), value()])],
        () => ['SET', key(), value(), this.#pick(['IFEQ', 'IFNE']), value(), ...this.#maybe(() => ['GET'])],
        () => [
          'SET',
          key(),
          value(),
          this.#pick(['IFDEQ', 'IFDNE']),
          this.#pick(['9555e8555c62dcfd', '1', '2d06800538d394c2']),
        ],
        () => [
          'MSETEX',
          '2',
          key(),
          value(),
          key(),
          value(),
          ...this.#maybe(() => this.#expiry()),
          ...this.#maybe(() => [this.#pick(['NX', 'XX', 'KEEPTTL'])]),
        ],
      );
    }
    return shapes;
  }

  #setOptions(): string[] {
    const options = [
      ...this.#maybe(() => [this.#pick(['NX', 'XX'])]),
      ...this.#maybe(() => ['GET']),
      ...this.#maybe(() => this.#expiry()),
      ...this.#maybe(() => ['KEEPTTL']),
    ];
    return this.#float() < 0.3 ? options.map((word) => word.toLowerCase()) : options;
  }

  #expiry(): string[] {
    return this.#pick([
      ['EX', this.#seconds()],
      ['PX', this.#millis()],
      ['EXAT', this.#instant('s', 1)],
      ['PXAT', this.#instant('', 1000)],
    ]);
  }

  #flags(): string[] {
    return [...this.#maybe(() => [this.#pick(FLAGS)]), ...this.#maybe(() => [this.#pick(FLAGS)])];
  }

  /**
   * An instant far in the future and different each time. The order of equal ones would depend on which server reads
   * its clock first.
   */
  #ahead(): number {
    this.#uses += 1;
    return 1000 + ((this.#uses * 7919) % 50_021);
  }

  #seconds(): string {
    return this.#float() < 0.7 ? String(this.#ahead()) : this.#pick(['0', '-1', 'x', '9223372036854775']);
  }

  #millis(): string {
    return this.#float() < 0.7 ? String(this.#ahead() * 1000) : this.#pick(['0', '-1', 'x']);
  }

  #instant(mark: string, unitMs: number): string {
    return this.#float() < 0.7 ? `@${mark}+${this.#ahead() * unitMs}` : this.#pick(['1', '0', '-5', 'x']);
  }

  #maybe(words: () => string[]): string[] {
    return this.#float() < 0.35 ? words() : [];
  }

  #pick<T>(choices: readonly T[]): T {
    return choices[Math.floor(this.#float() * choices.length)] as T;
  }
}
