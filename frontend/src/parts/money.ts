/** An amount as people write it, with its currency if there is one. */
export const money = (value: number, currency = "") =>
  `${value.toLocaleString("en-US", { minimumFractionDigits: 2, maximumFractionDigits: 2 })} ${currency}`.trim();
