/** The MAC under signatures, against the platform's own. */
import { createHmac } from 'node:crypto';
import { expect } from 'chai';
import { Hs256 } from '../../../../src/adapters/http-delivery/hs256.js';

const ofPlatform = (key: string, text: string) => createHmac('sha256', key).update(text).digest('base64url');

describe('HMAC-SHA256 under a key that is used again', () => {
  for (const key of ['', 'k', 'ключ', 'k'.repeat(64), 'k'.repeat(65), 'ü'.repeat(200)]) {
    it(`is the platform's, under a key of ${Buffer.byteLength(key)} bytes`, () => {
      const mac = new Hs256(key);
      for (const text of ['', 'a', 'b'.repeat(100), 'c'.repeat(10_000), 'd'.repeat(55)]) {
        expect(mac.of(text)).to.equal(ofPlatform(key, text));
      }
    });
  }
});
