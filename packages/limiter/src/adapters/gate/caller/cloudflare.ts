/**
 * The networks from which Cloudflare reaches servers, as https://www.cloudflare.com/ips-v4 and
 * https://www.cloudflare.com/ips-v6 list them; the list is that of
 * 28 September 2023, the last change by November 2026. A network that is missing here makes clients behind it count as one caller: nobody gains by it.
 */
export const CLOUDFLARE: readonly string[] = [
  '173.245.48.0/20',
  '103.21.244.0/22',
  '103.22.200.0/22',
  '103.31.4.0/22',
  '141.101.64.0/18',
  '108.162.192.0/18',
  '190.93.240.0/20',
  '188.114.96.0/20',
  '197.234.240.0/22',
  '198.41.128.0/17',
  '162.158.0.0/15',
  '104.16.0.0/13',
  '104.24.0.0/14',
  '172.64.0.0/13',
  '131.0.72.0/22',
  '2400:cb00::/32',
  '2606:4700::/32',
  '2803:f800::/32',
  '2405:b500::/32',
  '2405:8100::/32',
  '2a06:98c0::/29',
  '2c0f:f248::/32',
]
