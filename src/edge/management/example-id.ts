/** An id as all of them look, for examples. Nothing has it. */
export const EXAMPLE_ID = '00000000-0000-8000-8000-000000000000';
